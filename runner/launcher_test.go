//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestMain(m *testing.M) {
	switch os.Getenv(modeVar) {
	case modeLaunch:
		launchForTest()
	case modeRank:
		rankForTest()
	case modeAck:
		ackForTest()
	default:
		goleak.VerifyTestMain(m)
	}
}

func newLauncher(t *testing.T, url string, opts *store.Options) *Launcher {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l := NewLauncher(s, tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil))
	l.TempDir = t.TempDir()
	return l
}

func sh(script string) Job {
	return Job{Args: []string{"sh", "-c", script}, Environ: []string{"PATH=" + os.Getenv("PATH"), "USER=ann"}, Name: "job"}
}

// launched runs a job that must come to its end, and reads it back.
func launched(t *testing.T, l *Launcher, job Job) (Result, *tracker.Run) {
	t.Helper()
	result, err := l.Run(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result, readRun(t, l, result.RunID)
}

func readRun(t *testing.T, l *Launcher, id tracker.RunID) *tracker.Run {
	t.Helper()
	run, err := l.Tracker.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) > 0 {
		t.Errorf("bad records: %v", run.Warnings)
	}
	return run
}

func value(m *pyjson.Object, key string) any {
	v, _ := m.Get(key)
	return v
}

func TestRunIsRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	l.Version = "1.2"
	job := sh(`echo hello; echo oops >&2
echo '{"step": 1, "loss": 0.5}' > $HEIRLOOM_METRICS
echo weights > $HEIRLOOM_CHECKPOINT_DIR/epoch-1.pt
echo net > $HEIRLOOM_OUTPUT_DIR/model.onnx`)
	job.Args = append(job.Args, "sh", "--lr=0.1", "--token", "s3cret")
	job.Project, job.Experiment, job.ParamsFromArgs = "p", "e", true
	job.Tags = pyjson.NewObject(pyjson.Member{Key: "team", Value: "x"})
	job.Sources = []tracker.Source{{ID: "local://torchx/before", Artifact: "model"}}
	var started Started
	result, err := l.Run(t.Context(), job, func(s Started) {
		started = s
		run := readRun(t, l, s.RunID)
		if run.State != tracker.Running || run.Metadata.Text(tracker.KeyName) != "job" || len(run.Sources) != 1 {
			t.Errorf("not all is recorded before the start: %+v", run)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.State != tracker.Succeeded || result.ExitCode != 0 || result.Artifacts != 3 || len(result.Warnings) != 0 {
		t.Errorf("got %+v", result)
	}
	if !strings.HasPrefix(string(result.RunID), "local://torchx/job-") || started.RunID != result.RunID || started.Store != l.Store.URL() {
		t.Errorf("got %+v", started)
	}
	run := readRun(t, l, result.RunID)
	checkRecord(t, run)
	for name, want := range map[string]string{"stdout.log": "hello\n", "stderr.log": "oops\n"} {
		if got, _ := os.ReadFile(filepath.Join(started.LogDir, name)); string(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	checkNoSecret(t, l, "s3cret")
	if left, _ := os.ReadDir(l.TempDir); len(left) > 0 {
		t.Errorf("scratch stays: %v", left)
	}
}

func checkRecord(t *testing.T, run *tracker.Run) {
	t.Helper()
	m := run.Metadata
	for key, want := range map[string]any{
		"heirloom.name": "job", "heirloom.project": "p", "heirloom.experiment": "e", "heirloom.user": "ann",
		"heirloom.version": "1.2", "heirloom.state": "SUCCEEDED", "heirloom.exit_code": int64(0),
		"params.lr": 0.1, "params.token": store.RedactedMark, "tags.team": "x", "metrics.loss": 0.5,
	} {
		if got := value(m, key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if url := m.Text(tracker.KeyOutputDir); !strings.HasPrefix(url, "file:///") || !strings.HasSuffix(url, store.EncodeRun(string(run.ID))) {
		t.Errorf("output directory %s", url)
	}
	for _, key := range []string{"heirloom.host", "heirloom.dir", "heirloom.started", "heirloom.ended"} {
		if m.Text(key) == "" {
			t.Errorf("no %s", key)
		}
	}
	if _, set := m.Get(tracker.KeySignal); set {
		t.Error("a signal is recorded")
	}
	if len(run.Attempts) != 1 || run.Attempts[0].End == nil || run.State != tracker.Succeeded {
		t.Fatalf("attempts %+v", run.Attempts)
	}
	start, end := run.Attempts[0].Start, run.Attempts[0].End
	if start.PID != os.Getpid() || start.User != "ann" || end.ExitCode == nil || *end.ExitCode != 0 || end.State != tracker.Succeeded {
		t.Errorf("got %+v, %+v", start, end)
	}
	var got []string
	for _, a := range run.Artifacts {
		got = append(got, a.Name+" "+a.Kind())
		if size, ok := a.SizeBytes(); !ok || size == 0 || len(a.SHA256()) != 64 || a.Key() == "" || !strings.HasSuffix(a.Path, a.Key()) {
			t.Errorf("artifact %+v %s", a, jsonOf(a.Metadata))
		}
	}
	if want := []string{"checkpoints/epoch-1.pt checkpoint", "metrics.jsonl metrics", "model.onnx model"}; !slices.Equal(got, want) {
		t.Errorf("artifacts %v", got)
	}
}

// checkNoSecret looks at every byte that was stored.
func checkNoSecret(t *testing.T, l *Launcher, secret string) {
	t.Helper()
	for object, err := range l.Store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if body, err := l.Store.Get(t.Context(), object.Key); err != nil || strings.Contains(string(body), secret) {
			t.Errorf("%s holds the secret, or %v", object.Key, err)
		}
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name, script string
		state        tracker.State
		code         int
		signal       string
	}{
		{"ok", "exit 0", tracker.Succeeded, 0, ""},
		{"code", "exit 3", tracker.Failed, 3, ""},
		{"killed", "kill -KILL $$", tracker.Failed, 137, "SIGKILL"},
		{"segv", "kill -SEGV $$", tracker.Failed, 139, "SIGSEGV"},
	}
	l := newLauncher(t, t.TempDir(), nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, run := launched(t, l, sh(tt.script))
			if result.State != tt.state || result.ExitCode != tt.code || result.Signal != tt.signal {
				t.Errorf("got %+v", result)
			}
			end := run.Attempts[0].End
			if run.State != tt.state || end.Signal != tt.signal || (end.ExitCode == nil) != (tt.signal != "") {
				t.Errorf("recorded %s %+v", run.State, end)
			}
			if run.Metadata.Text(tracker.KeyState) != string(tt.state) || run.Metadata.Text(tracker.KeySignal) != tt.signal {
				t.Errorf("metadata %s", jsonOf(run.Metadata))
			}
			if _, set := run.Metadata.Get(tracker.KeyExitCode); set != (tt.signal == "") {
				t.Errorf("metadata %s", jsonOf(run.Metadata))
			}
		})
	}
}

func TestStateOf(t *testing.T) {
	tests := []struct {
		exit process.Exit
		want tracker.State
	}{
		{process.Exit{}, tracker.Succeeded},
		{process.Exit{Code: 1}, tracker.Failed},
		{process.Exit{Code: 137, Signal: "SIGKILL"}, tracker.Failed},
		{process.Exit{Stop: "SIGTERM"}, tracker.Cancelled},
		{process.Exit{Stop: "cancel", Code: 143, Signal: "SIGTERM"}, tracker.Cancelled},
		{process.Exit{Stop: "SIGINT"}, tracker.Succeeded},
		{process.Exit{Stop: "SIGINT", Code: 130}, tracker.Cancelled},
		{process.Exit{Stop: "SIGHUP", Code: 129, Signal: "SIGHUP"}, tracker.Cancelled},
	}
	for _, tt := range tests {
		if got := stateOf(tt.exit); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt.exit, got, tt.want)
		}
	}
}

func TestCancel(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	job := sh(`trap 'echo saved > $HEIRLOOM_OUTPUT_DIR/last.pt; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	job.Stdout = writerFunc(func(b []byte) (int, error) { cancel(); return len(b), nil })
	result, err := l.Run(ctx, job, nil)
	if err != nil || result.State != tracker.Cancelled || result.ExitCode != 0 || result.Artifacts != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
	if run := readRun(t, l, result.RunID); run.State != tracker.Cancelled || len(run.Artifacts) != 1 {
		t.Errorf("recorded %+v", run)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestCancelledBeforeStart(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "ran")
	_, err := l.Run(ctx, sh("touch "+marker), func(Started) { t.Error("started") })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the job ran")
	}
}

func TestFurtherAttempt(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	first, _ := launched(t, l, sh("exit 1"))
	job := sh("echo again")
	job.RunID = first.RunID
	second, run := launched(t, l, job)
	if second.RunID != first.RunID || len(run.Attempts) != 2 || run.State != tracker.Succeeded {
		t.Errorf("got %+v", run)
	}
	logs, err := filepath.Glob(filepath.Join(mustLocal(t, l, run.ID), "logs/main/0/*/stdout.log"))
	if err != nil || len(logs) != 2 {
		t.Errorf("logs %v, %v", logs, err)
	}
}

func mustLocal(t *testing.T, l *Launcher, id tracker.RunID) string {
	t.Helper()
	dir, ok := l.Store.LocalPath(l.Store.Layout().RunDir(string(id)))
	if !ok {
		t.Fatal("not local")
	}
	return dir
}

func TestGitIsRecorded(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	bin := t.TempDir()
	fake := "#!/bin/sh\ncase \"$*\" in *rev-parse*) echo c0ffee;; *status*) echo '# branch.head main';; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	launched(t, l, sh("true"))
	for _, tt := range []struct {
		name, script string
		writes       int64
	}{{"short", "true", 4}, {"long", "sleep 1.3", 5}} {
		t.Run(tt.name, func(t *testing.T) {
			before := writes(l)
			job := sh(tt.script)
			job.Dir = t.TempDir()
			if err := os.Mkdir(filepath.Join(job.Dir, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			job.Environ = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
			_, run := launched(t, l, job)
			if got := run.Metadata.Text(tracker.KeyGitCommit); got != "c0ffee" || value(run.Metadata, tracker.KeyGitDirty) != false {
				t.Errorf("metadata %s", jsonOf(run.Metadata))
			}
			if n := writes(l) - before; n != tt.writes {
				t.Errorf("%d writes, want %d", n, tt.writes)
			}
		})
	}
}

func writes(l *Launcher) int64 {
	n := l.Store.Stats().Requests
	return n["put"] + n["create"] + n["append"]
}

// The numbers of requests are part of what a launch costs.
func TestFewRequests(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	launched(t, l, sh("true"))
	before := writes(l)
	launched(t, l, sh("true"))
	if n := writes(l) - before; n != 4 { // start, metadata, metadata, end
		t.Errorf("%d writes", n)
	}
}

func TestWriterTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	l := newLauncher(t, t.TempDir(), nil)
	l.Now = func() time.Time { return at }
	_, run := launched(t, l, sh("true"))
	if got := run.Metadata.Text(tracker.KeyStarted); got != "2026-11-21T01:02:03.000000004Z" || !run.Started.Equal(at) {
		t.Errorf("got %s and %s", got, run.Started)
	}
}

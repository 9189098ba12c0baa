package tracker_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// script runs a Python script of testdata under TorchX and returns its output.
func script(t testing.TB, environ []string, stdin string, name string, args ...string) []byte {
	t.Helper()
	return scriptBy(t, servers.Python(t, torchxPin, fsspecPin), environ, stdin, name, args...)
}

// scriptBy is script with another Python.
func scriptBy(t testing.TB, python string, environ []string, stdin string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", name)}, args...)...)
	cmd.Env = append(slices.Clone(environ), "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir(), "LOGLEVEL=ERROR", "PYTHONUTF8=1")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return out
}

// facts are what both sides write in the tests below, free of what TorchX gets
// wrong by itself: keys given twice, and links with and without a name to one
// source.
func facts() *pyjson.Object {
	calls := []any{
		[]any{"metadata", string(runA), object("lr", 0.01, "bs", 25, "big", 1<<62, "text", "naïve 東京 😀\x7f\"\\\n</a>")},
		[]any{"metadata", string(runA), object("deep", object("a", []any{1, 2.5, nil, true, []any{}, &pyjson.Object{}}))},
		[]any{"metadata", string(runB), &pyjson.Object{}},
		[]any{"artifact", string(runA), "model", "s3://b/é", nil},
		[]any{"artifact", string(runA), "données d'été", "/x", object("epoch", 6, "sha", "ab")},
		[]any{"artifact", string(runB), "empty", "", &pyjson.Object{}},
		[]any{"source", string(runB), string(runA), "model"},
		[]any{"source", string(runC), string(runA), "données d'été"},
		[]any{"source", string(runC), string(runB)},
		[]any{"source", string(runC), "clicks@2026-11-20", "x"},
		[]any{"source", "ext exp#1", "s3://bucket/data"},
	}
	return object("calls", calls)
}

// record carries the facts out.
func record(t *testing.T, tr tracker.Tracker, calls []any) {
	t.Helper()
	for _, c := range calls {
		call := c.([]any)
		run := tracker.RunID(call[1].(string))
		switch call[0] {
		case "metadata":
			check(t, tr.AddMetadata(t.Context(), run, call[2].(*pyjson.Object)))
		case "artifact":
			meta, _ := call[4].(*pyjson.Object)
			check(t, tr.AddArtifact(t.Context(), run, tracker.Artifact{Name: call[2].(string), Path: call[3].(string), Metadata: meta}))
		case "source":
			s := tracker.Source{ID: tracker.RunID(call[2].(string))}
			if len(call) > 3 {
				s.Artifact = call[3].(string)
			}
			check(t, tr.AddSource(t.Context(), run, s))
		}
	}
}

// TestTorchXReadsHeirloom compares what TorchX sees in a root of ours with what
// heirloom sees in it.
func TestTorchXReadsHeirloom(t *testing.T) {
	root := t.TempDir()
	tr := tracker.NewFileTracker(openStore(t, root, nil), nil)
	check(t, tr.Init(t.Context(), tracker.InitOptions{}))
	_, err := tr.StartAttempt(t.Context(), runA, tracker.AttemptStart{PID: 1})
	check(t, err)
	calls := member(facts(), "calls").([]any)
	record(t, tr, calls)
	record(t, tr, calls[6:]) // links again: nothing changes
	seen, err := pyjson.UnmarshalObject(script(t, nil, "", "torchx_read.py", root))
	check(t, err)
	sameView(t, tr, seen)
	runs := member(seen, "runs").(*pyjson.Object)
	mirror := dump(t, member(member(runs, string(runA)).(*pyjson.Object), "descendants"))
	if want := `[["local://torchx/evaluate-ccc", "donn\u00e9es d'\u00e9t\u00e9"], ["local://torchx/train-bbb", "model"]]`; mirror != want {
		t.Errorf("the mirror holds %s, want %s", mirror, want)
	}
}

// TestHeirloomReadsTorchX lets TorchX write the facts.
func TestHeirloomReadsTorchX(t *testing.T) {
	root := t.TempDir()
	script(t, nil, dump(t, member(facts(), "calls")), "torchx_write.py", root)
	seen, err := pyjson.UnmarshalObject(script(t, nil, "", "torchx_read.py", root))
	check(t, err)
	s := openStore(t, root, nil)
	tr := tracker.NewFileTracker(s, nil)
	sameView(t, tr, seen)

	ours := openStore(t, "mem://", nil)
	record(t, tracker.NewFileTracker(ours, nil), member(facts(), "calls").([]any))
	if got, want := bodiesOf(objects(t, ours)), bodiesOf(objects(t, s)); !slices.Equal(got, want) {
		t.Errorf("heirloom writes\n%s\nTorchX writes\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sameView compares heirloom's view of a root with what torchx_read.py printed.
func sameView(t *testing.T, tr *tracker.FileTracker, seen *pyjson.Object) {
	t.Helper()
	same(t, "runs", ids(t, tr, ""), texts(member(seen, "run_ids")))
	runs := member(seen, "runs").(*pyjson.Object)
	if runs.Len() < 4 {
		t.Errorf("TorchX sees %d runs", runs.Len())
	}
	for run, err := range tr.Runs(t.Context(), nil) {
		check(t, err)
		want := member(runs, string(run.ID)).(*pyjson.Object).Clone()
		want.Delete("descendants")
		sameRun(t, run, want)
		if len(run.Warnings) > 0 {
			t.Errorf("%s: warnings %v", run.ID, run.Warnings)
		}
	}
}

// TestTorchXJob runs a script made for TorchX in the environment of a launch,
// and the same job in Go beside it.
func TestTorchXJob(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root, nil)
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.Init(t.Context(), tracker.InitOptions{}))
	check(t, tr.AddMetadata(t.Context(), runA, nil))
	environ := []string{
		"TORCHX_JOB_ID=" + string(runB), "TORCHX_PARENT_RUN_ID=" + string(runC),
		"TORCHX_TRACKERS=fsspec", "TORCHX_TRACKER_FSSPEC_CONFIG=" + writeConfig(t, s),
	}
	if got := string(script(t, environ, "", "torchx_job.py")); got != string(runB)+"\n" {
		t.Errorf("the job took itself for %q", got)
	}
	want, err := tr.Run(t.Context(), runB)
	check(t, err)
	if got := dump(t, want.Metadata); got != `{"lr": 0.01, "note": "na\u00efve \u6771\u4eac", "flags": [true, null, 1e-05]}` {
		t.Errorf("metadata %s", got)
	}
	if got := dump(t, artifactView(want.Artifacts)); got != `{"log": {"path": "/logs/1", "metadata": null}, "model": {"path": "/models/1", "metadata": {"epoch": 6}}}` {
		t.Errorf("artifacts %s", got)
	}
	same(t, "sources", links(want.Sources), []string{string(runC), string(runA) + "#train split"})

	environ[0] = "TORCHX_JOB_ID=in-go"
	run, err := tracker.FromEnviron(t.Context(), environ, nil)
	check(t, err)
	check(t, run.AddMetadata(t.Context(), object("lr", 0.01, "note", "naïve 東京", "flags", []any{true, nil, 1e-05})))
	check(t, run.AddArtifact(t.Context(), tracker.Artifact{Name: "model", Path: "/models/1", Metadata: object("epoch", 6)}))
	check(t, run.AddArtifact(t.Context(), tracker.Artifact{Name: "log", Path: "/logs/1"}))
	check(t, run.AddSource(t.Context(), tracker.Source{ID: runA, Artifact: "train split"}))
	check(t, run.Close())
	got, err := tr.Run(t.Context(), "in-go")
	check(t, err)
	if dump(t, got.Metadata) != dump(t, want.Metadata) || dump(t, artifactView(got.Artifacts)) != dump(t, artifactView(want.Artifacts)) {
		t.Errorf("in Go: %+v\nin Python: %+v", got, want)
	}
	same(t, "sources", links(got.Sources), links(want.Sources))
}

// writeConfig writes the file that leads TorchX to a store.
func writeConfig(t *testing.T, s *store.Store) string {
	t.Helper()
	var text strings.Builder
	for _, setting := range s.FsspecConfig() {
		text.WriteString(setting.Key + "=" + setting.Value + "\n")
	}
	file := filepath.Join(t.TempDir(), "fsspec.conf")
	check(t, os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

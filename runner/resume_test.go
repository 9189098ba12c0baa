//go:build unix

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const resumed = tracker.RunID("local://torchx/again-1")

// Each mode, after each end that an attempt may have had.
func TestResume(t *testing.T) {
	begun := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	ends := []struct {
		name  string
		after time.Duration // since the last sign of life
		end   tracker.State // "" = none
		may   string        // the modes in which a further attempt may start
	}{
		{"succeeded", time.Second, tracker.Succeeded, "allow must"},
		{"failed", time.Second, tracker.Failed, "allow must"},
		{"cancelled", time.Second, tracker.Cancelled, "allow must"},
		{"lost", tracker.LostAfter + 1, "", "allow must"},
		{"running", tracker.LostAfter, "", ""},
		{"running, forced", tracker.LostAfter, "", "allow must force"},
		{"known without an attempt", 0, "", "allow must"},
		{"unknown", 0, "", "allow never"},
	}
	for _, tt := range ends {
		for _, mode := range []Resume{ResumeAllow, ResumeMust, ResumeNever} {
			t.Run(tt.name+"/"+string(mode), func(t *testing.T) {
				l := newLauncher(t, "mem://", nil)
				l.Now = func() time.Time { return begun }
				leave(t, l, tt.name, tt.end)
				l.Now = func() time.Time { return begun.Add(tt.after) }
				job := sh("true")
				job.RunID, job.Resume, job.Force = resumed, mode, strings.Contains(tt.may, "force")
				before := writes(l)
				_, err := l.Run(t.Context(), job, nil)
				if may := strings.Contains(tt.may, string(mode)); may != (err == nil) {
					t.Errorf("may start: %v, got %v", may, err)
				}
				if err != nil && (!errors.Is(err, ErrRefused) || !errors.Is(err, store.ErrConflict) || writes(l) != before) {
					t.Errorf("%v, %d writes", err, writes(l)-before)
				}
			})
		}
	}
}

// leave records what a process on another host left of the run.
func leave(t *testing.T, l *Launcher, name string, end tracker.State) {
	t.Helper()
	ctx := t.Context()
	err := l.Tracker.Init(ctx, tracker.InitOptions{})
	switch {
	case err != nil:
	case name == "unknown":
	case name == "known without an attempt":
		err = l.Tracker.AddMetadata(ctx, resumed, nil)
	default:
		_, err = l.Tracker.StartAttempt(ctx, resumed, tracker.AttemptStart{Time: l.now(), Host: "elsewhere", PID: 1, BootID: "other"})
		if err == nil && end != "" {
			err = l.Tracker.EndAttempt(ctx, resumed, 1, tracker.AttemptEnd{Time: l.now(), State: end})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Of many that resume a lost run at once, one does.
func TestResumedOnce(t *testing.T) {
	l := newLauncher(t, "mem://", nil)
	l.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	leave(t, l, "lost", "")
	l.Now = nil
	const many = 8
	hold := make(chan struct{})
	errs := make(chan error, many)
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			job := sh("true")
			job.RunID = resumed
			_, err := l.Run(t.Context(), job, func(Started) { <-hold })
			errs <- err
		})
	}
	for range many - 1 {
		if err := <-errs; !errors.Is(err, ErrRefused) {
			t.Errorf("got %v", err)
		}
	}
	close(hold)
	group.Wait()
	if err := <-errs; err != nil {
		t.Error(err)
	}
	if run := readRun(t, l, resumed); len(run.Attempts) != 2 {
		t.Errorf("attempts %+v", run.Attempts)
	}
}

func TestReplaced(t *testing.T) {
	gone := exited(t)
	slurm := func(text string) []string {
		var environ []string
		for i, value := range strings.Fields(text) {
			environ = append(environ, []string{"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_CLUSTER_NAME"}[i]+"="+value)
		}
		return environ
	}
	tests := []struct {
		name        string
		before, now tracker.AttemptStart
		want        bool
	}{
		{"nothing known", tracker.AttemptStart{PID: gone}, tracker.AttemptStart{}, false},
		{"another boot", tracker.AttemptStart{PID: gone, BootID: "a"}, tracker.AttemptStart{BootID: "b"}, false},
		{"gone", tracker.AttemptStart{PID: gone, BootID: "a"}, tracker.AttemptStart{BootID: "a"}, true},
		{"alive", tracker.AttemptStart{PID: os.Getpid(), BootID: "a"}, tracker.AttemptStart{BootID: "a"}, false},
		{"requeued", tracker.AttemptStart{Environ: slurm("7")}, tracker.AttemptStart{Environ: slurm("7 1")}, true},
		{"requeued again", tracker.AttemptStart{Environ: slurm("7 1 c")}, tracker.AttemptStart{Environ: slurm("7 2 c")}, true},
		{"twice in one job", tracker.AttemptStart{Environ: slurm("7 1")}, tracker.AttemptStart{Environ: slurm("7 1")}, false},
		{"another job", tracker.AttemptStart{Environ: slurm("6")}, tracker.AttemptStart{Environ: slurm("7 1")}, false},
		{"another cluster", tracker.AttemptStart{Environ: slurm("7 0 c")}, tracker.AttemptStart{Environ: slurm("7 1 d")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := replaced(tt.before, tt.now); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// exited is the id of a process that is no more.
func exited(t *testing.T) int {
	t.Helper()
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "exit"}, &os.ProcAttr{})
	if err == nil {
		_, err = p.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Pid
}

// What an attempt said of its end does not outlive it, also where the next one
// never ends.
func TestEndOfEarlierAttempt(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	job := sh("kill -KILL $$")
	job.RunID, job.Outputs = resumed, []string{"/no/such/file"}
	_, run := launched(t, l, job)
	first := run.Metadata.Text(tracker.KeyStarted)
	if run.Metadata.Text(tracker.KeySignal) != "SIGKILL" || value(run.Metadata, KeyWarnings) == nil {
		t.Fatalf("metadata %s", jsonOf(run.Metadata))
	}
	check := func(when string, run *tracker.Run, keys ...string) {
		t.Helper()
		for _, key := range keys {
			if v, set := run.Metadata.Get(key); !set || v != nil {
				t.Errorf("%s: %s is %v", when, key, v)
			}
		}
	}
	job.Args, job.Outputs = []string{"sh", "-c", "exit 5"}, nil
	_, err := l.Run(t.Context(), job, func(s Started) {
		run := readRun(t, l, s.RunID)
		check("started", run, slices.DeleteFunc(endKeys(), func(key string) bool { return key == tracker.KeyState })...)
		if state := run.Metadata.Text(tracker.KeyState); state != string(tracker.Running) {
			t.Errorf("started: state is %s", state)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	run = readRun(t, l, resumed)
	check("ended", run, tracker.KeySignal, KeyWarnings)
	if value(run.Metadata, tracker.KeyExitCode) != int64(5) || run.Metadata.Text(tracker.KeyStarted) != first {
		t.Errorf("metadata %s", jsonOf(run.Metadata))
	}
	launched(t, l, job) // and from a code to a signal
	job.Args = []string{"sh", "-c", "kill -TERM $$"}
	_, run = launched(t, l, job)
	check("killed", run, tracker.KeyExitCode)
	if len(run.Attempts) != 4 || *run.Attempts[1].End.ExitCode != 5 || run.Attempts[0].End.Signal != "SIGKILL" {
		t.Errorf("attempts %+v", run.Attempts)
	}
}

// Metrics go on where the attempt before was cut off; on a remote store too,
// where nothing else is fetched.
func TestMetricsThroughRestarts(t *testing.T) {
	for _, url := range []string{t.TempDir(), "mem://"} {
		t.Run(store.Redact(url[:4]), func(t *testing.T) {
			l := newLauncher(t, url, nil)
			job := sh(`cd $HEIRLOOM_OUTPUT_DIR; printf '{"step": 1, "loss": 3}\n{"step": 2, "lo' > metrics.jsonl
mkdir -p csv/version_0; echo step,acc > csv/version_0/metrics.csv; echo 1,0.5 >> csv/version_0/metrics.csv
echo w > checkpoints/1.pt; exit 1`)
			job.RunID = resumed
			launched(t, l, job)
			job = sh(`cd $HEIRLOOM_OUTPUT_DIR; test -e csv/version_0/metrics.csv || exit 2
echo '{"step": 2, "loss": 2}' >> $HEIRLOOM_METRICS; echo x > other`)
			job.RunID = resumed
			var notices []string
			result, err := l.Run(t.Context(), job, func(s Started) { notices = s.Notices })
			if err != nil || result.ExitCode != 0 {
				t.Fatalf("got %+v, %v", result, err)
			}
			if told := strings.Contains(fmt.Sprint(notices), "earlier attempts: 1; "); told != (url == "mem://") {
				t.Errorf("notices %q", notices)
			}
			run := readRun(t, l, resumed)
			key, err := store.ParseKey(artifact(t, run, "metrics.jsonl").Key())
			if err != nil {
				t.Fatal(err)
			}
			text, err := l.Store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			series := make(tracker.Series)
			bad, err := tracker.ReadMetrics(bytes.NewReader(text), series.Add)
			if err != nil || bad != 1 || len(series["loss"]) != 2 {
				t.Errorf("%d bad lines, %v: %q", bad, err, text)
			}
			artifact(t, run, "checkpoints/1.pt")
			for _, log := range []string{"0/1", "0/2"} {
				key := l.Store.Layout().RunDir(string(resumed)).Join("logs/main", log, "stdout.log")
				if _, err := l.Store.Stat(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestAttemptsEndTheirOwn has an attempt end beside a forced one that runs on,
// whose job it leaves alone.
func TestAttemptsEndTheirOwn(t *testing.T) {
	l := newLauncher(t, t.TempDir(), nil)
	endFirst, endSecond := waiting(t, l, false), waiting(t, l, true)
	endFirst()
	endSecond()
}

// waiting starts an attempt that lives until end, which wants it to succeed.
func waiting(t *testing.T, l *Launcher, force bool) (end func()) {
	t.Helper()
	in, release := io.Pipe()
	started, out := io.Pipe()
	job := sh("echo started; read -r line")
	job.RunID, job.Force, job.Stdin, job.Stdout = resumed, force, in, out
	var result Result
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { result, err = l.Run(t.Context(), job, nil) })
	if _, err := started.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	return func() {
		_, writeErr := release.Write([]byte("\n"))
		closeErr := release.Close()
		wg.Wait()
		if err := errors.Join(err, writeErr, closeErr); err != nil || result.ExitCode != 0 {
			t.Errorf("forced %v: %+v, %v", force, result, err)
		}
	}
}

//go:build unix

package local

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/runnertest"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// The test binary is also the supervisor, and a caller that runs in the foreground.
const (
	modeVar     = "HEIRLOOM_TEST_MODE"
	stateVar    = "HEIRLOOM_TEST_STATE"
	supervising = "supervise"
	submitting  = "submit"
	stamping    = "stamp"
)

func TestMain(m *testing.M) {
	switch os.Getenv(modeVar) {
	case supervising:
		s, err := New(testOptions(os.Getenv(stateVar)))
		if err == nil {
			err = s.Supervise(context.Background(), os.Args[len(os.Args)-1], os.Stdin)
		}
		exit(err)
	case submitting:
		exit(submitForTest(os.Getenv(stateVar)))
	case stamping:
		exit(stamp(os.Getenv(stateVar)))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// testOptions are those of a scheduler whose supervisors are this binary.
func testOptions(state string) Options {
	return Options{
		StateDir: state, Supervise: []string{"/usr/bin/env", modeVar + "=" + supervising, stateVar + "=" + state, os.Args[0]},
		Environ: testEnviron(), Launcher: testLauncher,
	}
}

func testEnviron() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}
}

func testLauncher(ctx context.Context, url, _ string) (*runner.Launcher, func() error, error) {
	s, err := store.Open(ctx, url, nil)
	if err != nil {
		return nil, nil, err
	}
	l := runner.NewLauncher(s, tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil))
	l.Adopt = os.Getenv(modeVar) != ""
	return l, s.Close, nil
}

// newScheduler makes one whose apps are ended with the test.
func newScheduler(t *testing.T) *Scheduler {
	t.Helper()
	s, err := New(testOptions(stateDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for e, err := range s.List(context.Background(), runner.ListQuery{}) {
			if err == nil && !e.State.Terminal() {
				_ = s.Cancel(context.Background(), e.Handle, runner.CancelOptions{Grace: time.Millisecond})
				_, _ = s.Wait(context.Background(), e.Handle)
			}
		}
	})
	return s
}

// stateDir is removed when the supervisors have gone.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "heirloom-local-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "state")
}

func TestConformance(t *testing.T) {
	heard := make(chan os.Signal, 1) // what the tests were started to ignore is not the supervisor's to ignore
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(heard)
	options := testOptions(stateDir(t))
	runnertest.RunConformance(t, runnertest.Harness{
		Scheduler: Name,
		Open: func(t *testing.T) runner.Scheduler {
			s, err := New(options)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Policies: []runner.RetryPolicy{runner.RetryReplica, runner.RetryRole, runner.RetryApplication},
		Local:    true,
		Dir:      func(t *testing.T) string { return t.TempDir() },
	})
}

// shRole is a role of replicas that run a script.
func shRole(name string, replicas int, script string) runner.Role {
	return runner.Role{Name: name, NumReplicas: replicas, Entrypoint: "sh", Args: []string{"-c", runner.EscapeMacros(script)}}
}

// planned makes the plan of an app.
func planned(t *testing.T, s *Scheduler, cfg runner.Config, roles ...runner.Role) (*runner.Plan, error) {
	t.Helper()
	r, err := runner.New("", []runner.Backend{{Name: Name, Open: func(context.Context) (runner.Scheduler, error) { return s, nil }}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Plan(t.Context(), runner.Request{
		App: runner.App{Name: "app", Roles: roles}, Config: cfg, Dir: t.TempDir(), Recording: runner.Recording{Grace: 5 * time.Second},
	})
}

func submitted(t *testing.T, s *Scheduler, roles ...runner.Role) runner.Handle {
	t.Helper()
	plan, err := planned(t, s, nil, roles...)
	if err == nil {
		_, err = s.Submit(t.Context(), plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan.Handle
}

func waited(t *testing.T, s *Scheduler, h runner.Handle) runner.AppStatus {
	t.Helper()
	status, err := s.Wait(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

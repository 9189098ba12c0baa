//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// submitForTest submits an app that ends with 7, so that no truth calls it a success.
func submitForTest(state string) error {
	s, err := New(testOptions(state))
	if err != nil {
		return err
	}
	r, err := runner.New("", []runner.Backend{{Name: Name, Open: func(context.Context) (runner.Scheduler, error) { return s, nil }}}, nil)
	if err != nil {
		return err
	}
	_, err = r.Run(context.Background(), runner.Request{App: runner.App{Name: "crash", Roles: []runner.Role{shRole("a", 2, "sleep 0.1; exit 7")}}, Dir: "/"})
	return err
}

// TestKill kills the supervisor or who submitted with -9 at any moment: the exit code
// is right or there is none, nothing is called a success, and no process stays.
func TestKill(t *testing.T) {
	rounds := 15
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		rounds = 300
	}
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) { killOnce(t, i%2 == 0) })
	}
}

func killOnce(t *testing.T, caller bool) {
	s := newScheduler(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(testEnviron(), modeVar+"="+submitting, stateVar+"="+s.opts.StateDir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if caller {
		kill := time.AfterFunc(rand.N(400*time.Millisecond), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	} else {
		var who supervisor
		await(t, "a supervisor", func() bool {
			for e, err := range s.List(t.Context(), runner.ListQuery{}) {
				if l, lerr := s.newest(e.Handle); err == nil && lerr == nil {
					_, _ = l.read(supervisorFile, &who)
				}
			}
			return who.PID != 0
		})
		time.Sleep(rand.N(300 * time.Millisecond)) // at any moment of its life
		_ = syscall.Kill(who.PID, syscall.SIGKILL)
		_ = cmd.Wait()
	}
	for e, err := range s.List(t.Context(), runner.ListQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		status, err := s.Wait(t.Context(), e.Handle)
		if errors.Is(err, store.ErrNotExist) {
			continue // killed before all of the plan was handed over
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case status.State == tracker.Failed && status.ExitCode() == 7:
		case status.State == tracker.Lost && status.ExitCode() == runner.NoExitCode:
		case status.State == tracker.Lost && status.ExitCode() == 7: // one of the two was noted before
		default:
			t.Errorf("got %+v with code %d", status, status.ExitCode())
		}
		for _, role := range status.Roles {
			for _, r := range role.Replicas {
				if r.PID != 0 {
					await(t, "the end of the replica", func() bool { return !living(r.PID) })
				}
			}
		}
	}
}

package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Who waits asks often at first, then at most as often as was said, and is patient
// with a scheduler that does not answer.
func TestWaitPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		s := &scripted{}
		s.status = func() (runner.AppStatus, error) {
			since := time.Since(began)
			asked = append(asked, since.Round(time.Millisecond))
			switch {
			case since > 5*time.Minute:
				return runner.AppStatus{State: tracker.Succeeded}, nil
			case since > time.Minute:
				return runner.AppStatus{}, store.ErrUnavailable
			}
			return runner.AppStatus{State: tracker.Running}, nil
		}
		r := newRunner(t, s, "", nil)
		h := runner.Handle{Scheduler: "scripted", Session: "torchx", App: "a"}
		status, err := r.Wait(t.Context(), h, nil)
		if err != nil || status.State != tracker.Succeeded {
			t.Errorf("got %+v, %v", status, err)
		}
		if asked[1] != 50*time.Millisecond || asked[2] != 150*time.Millisecond || asked[len(asked)-1]-asked[len(asked)-2] != 10*time.Second {
			t.Errorf("asked at %v", asked)
		}
		began = time.Now()
		if status, err = r.Wait(t.Context(), h, &runner.WaitOptions{Every: time.Second, Patience: time.Minute}); !errors.Is(err, store.ErrUnavailable) || status.State != tracker.Running {
			t.Errorf("patience: got %+v, %v", status, err)
		}
		if took := time.Since(began); took < 2*time.Minute || took > 2*time.Minute+2*time.Second {
			t.Errorf("gave up after %s", took)
		}
		began = time.Now()
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		if _, err = r.Wait(ctx, h, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("called off: %v", err)
		}
		s.status = func() (runner.AppStatus, error) { return runner.AppStatus{State: tracker.Lost}, nil }
		if status, err = r.Wait(t.Context(), h, nil); err != nil || status.State != tracker.Lost {
			t.Errorf("lost: got %+v, %v", status, err)
		}
	})
}

// Cancel and Delete do nothing for what is gone or has ended, but a scheduler that does not
// exist or does not answer is an error.
func TestEnding(t *testing.T) {
	s := &scripted{}
	r := newRunner(t, s, "", nil)
	h := runner.Handle{Scheduler: "scripted", Session: "torchx", App: "a"}
	for _, c := range []struct {
		name   string
		status runner.AppStatus
		err    error
		h      runner.Handle
		opts   *runner.EndOptions
		kind   error
		called bool
	}{
		{name: "gone", err: store.ErrNotExist, h: h},
		{name: "gone, must exist", err: store.ErrNotExist, h: h, opts: &runner.EndOptions{MustExist: true}, kind: store.ErrNotExist},
		{name: "ended", status: runner.AppStatus{State: tracker.Failed}, h: h},
		{name: "runs", status: runner.AppStatus{State: tracker.Running}, h: h, called: true},
		{name: "lost", status: runner.AppStatus{State: tracker.Lost}, h: h, called: true},
		{name: "no answer", err: store.ErrUnavailable, h: h, kind: store.ErrUnavailable},
		{name: "no scheduler", h: runner.Handle{Scheduler: "bogus", App: "a"}, kind: store.ErrNotExist},
		{name: "another session", status: runner.AppStatus{State: tracker.Running}, h: runner.Handle{Scheduler: "scripted", Session: "x", App: "a"}, kind: store.ErrPermission},
		{name: "forced", status: runner.AppStatus{State: tracker.Running}, h: runner.Handle{Scheduler: "scripted", Session: "x", App: "a"}, opts: &runner.EndOptions{Force: true}, called: true},
	} {
		s.status = func() (runner.AppStatus, error) { return c.status, c.err }
		for verb, end := range map[string]func(context.Context, runner.Handle, *runner.EndOptions) error{"cancel": r.Cancel, "delete": r.Delete} {
			s.calls = nil
			err := end(t.Context(), c.h, c.opts)
			called := slices.ContainsFunc(s.calls, func(call string) bool { return strings.HasPrefix(call, "cancel ") })
			if !errors.Is(err, c.kind) || called != c.called {
				t.Errorf("%s, %s: got %v, asked to end: %v", verb, c.name, err, called)
			}
		}
	}
}

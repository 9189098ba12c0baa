package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// gate is a script that says it is there and waits until it is let go.
const gate = `touch here; while [ ! -e go ]; do sleep 0.05; done; `

func planIsPure(s *suite) {
	a := app("pure", s.role("r", "touch ran"))
	a.Roles[0].Env = map[string]string{"A": "1"}
	before, err := json.Marshal(a)
	if err != nil {
		s.t.Fatal(err)
	}
	plan := s.plan(a)
	plan.App.Roles[0].Env["A"], plan.App.Roles[0].Args[0] = "2", "changed"
	if after, _ := json.Marshal(a); string(after) != string(before) {
		s.t.Errorf("planning changed the app from %s to %s", before, after)
	}
	if _, err := s.r.Status(s.t.Context(), plan.Handle); !errors.Is(err, store.ErrNotExist) {
		s.t.Errorf("the status of what was only planned: %v", err)
	}
	body, err := json.Marshal(plan)
	if err != nil {
		s.t.Fatalf("the plan cannot be written: %v", err)
	}
	if back, err := runner.ReadPlan(body); err != nil || back.RunID != plan.RunID || back.App.Roles[0].Env["A"] != "2" {
		s.t.Errorf("the plan is read back as %+v, %v", back, err)
	}
}

// The hook of a role sees the request, once.
func requestIsEdited(s *suite) {
	a := app("edited", s.role("r", "exit 0"))
	called := 0
	a.Roles[0].PreProcess = func(_ context.Context, scheduler string, plan *runner.Plan) error {
		if called++; scheduler != s.Scheduler || plan.Request == nil {
			s.t.Errorf("the hook was given %q and the request %v", scheduler, plan.Request)
		}
		return nil
	}
	plan := s.plan(a)
	if called != 1 {
		s.t.Errorf("the hook was called %d times", called)
	}
	h, err := s.r.Submit(s.t.Context(), plan)
	if err != nil {
		s.t.Fatal(err)
	}
	s.endAfter(h)
	s.check(s.wait(h), tracker.Succeeded, 0)
}

func everyState(s *suite) {
	h := s.run(app("states", s.role("r", gate+"exit 0")))
	var seen []runner.State
	s.until("it runs", func() bool {
		status, err := s.r.Status(s.t.Context(), h)
		if err != nil {
			s.t.Fatalf("status: %v", err)
		}
		if len(seen) == 0 || seen[len(seen)-1] != status.State {
			seen = append(seen, status.State)
		}
		return status.State == tracker.Running && s.exists("here") || isDone(status.State)
	})
	order := []runner.State{tracker.Submitted, tracker.Pending, tracker.Running}
	if !slices.IsSortedFunc(seen, func(a, b runner.State) int { return slices.Index(order, a) - slices.Index(order, b) }) ||
		slices.ContainsFunc(seen, func(state runner.State) bool { return !slices.Contains(order, state) }) {
		s.t.Fatalf("on the way to RUNNING it was %v", seen)
	}
	s.checkRunning(h)
	s.touch("go")
	status := s.wait(h)
	s.check(status, tracker.Succeeded, 0)
	if code := s.replica(status, "r", 0).ExitCode; code == nil || *code != 0 {
		s.t.Errorf("the replica's exit code is %v", code)
	}
	if status.Handle != h || status.NumRestarts != 0 || status.Ended.IsZero() || status.Ended.Before(status.Started) {
		s.t.Errorf("at the end: %+v", status)
	}
	again, err := s.runner("").Status(s.t.Context(), h)
	if err != nil || again.State != tracker.Succeeded || again.ExitCode() != 0 {
		s.t.Errorf("asked by another process: %+v, %v", again, err)
	}
}

func (s *suite) checkRunning(h runner.Handle) {
	s.t.Helper()
	status, err := s.runner("").Status(s.t.Context(), h)
	if err != nil || status.State != tracker.Running || status.Handle != h {
		s.t.Fatalf("asked by another process while it runs: %+v, %v", status, err)
	}
	if r := s.replica(status, "r", 0); r.State != tracker.Running || r.ExitCode != nil || r.Attempt != 1 {
		s.t.Errorf("a replica that runs: %+v", r)
	}
	if status.Submitted.IsZero() || status.Started.IsZero() || !status.Ended.IsZero() || status.Started.Before(status.Submitted) {
		s.t.Errorf("times while it runs: submitted %s, started %s, ended %s", status.Submitted, status.Started, status.Ended)
	}
}

func submittedOnce(s *suite) {
	plan := s.plan(app("once", s.role("r", "echo x >> ran")))
	for range 3 {
		h, err := s.runner("").Submit(s.t.Context(), plan)
		if err != nil || h != plan.Handle {
			s.t.Fatalf("submit: %s, %v", h, err)
		}
		s.endAfter(h)
		s.check(s.wait(h), tracker.Succeeded, 0)
	}
	if got := s.read("ran"); got != "x\n" {
		s.t.Errorf("submitted three times it ran %d times", strings.Count(got, "x"))
	}
}

func submittedAtOnce(s *suite) {
	plan := s.plan(app("atonce", s.role("r", "echo x >> ran")))
	s.endAfter(plan.Handle)
	var wg sync.WaitGroup
	for range 4 {
		r, copied := s.runner(""), *plan
		wg.Go(func() {
			if _, err := r.Submit(s.t.Context(), &copied); err != nil {
				s.t.Errorf("one of four that submit at once: %v", err)
			}
		})
	}
	wg.Wait()
	s.check(s.wait(plan.Handle), tracker.Succeeded, 0)
	if got := s.read("ran"); got != "x\n" {
		s.t.Errorf("submitted four times at once it ran %d times", strings.Count(got, "x"))
	}
}

package runnertest

import (
	"errors"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func (s *suite) list(query runner.ListQuery) []runner.ListEntry {
	s.t.Helper()
	var entries []runner.ListEntry
	for e, err := range s.runner("").List(s.deadline(), s.Scheduler, query) {
		if err != nil {
			s.t.Fatalf("list: %v", err)
		}
		entries = append(entries, e)
	}
	return entries
}

func list(s *suite) {
	begin := time.Now().Add(-2 * time.Second) // a scheduler may keep whole seconds
	first := s.run(app("listed", s.role("r", "exit 3")))
	s.wait(first)
	second := s.run(app("listed", s.role("r", gate+"exit 0")))
	s.untilState(second, tracker.Running)
	find := func(h runner.Handle, entries []runner.ListEntry) *runner.ListEntry {
		if i := slices.IndexFunc(entries, func(e runner.ListEntry) bool { return e.Handle == h }); i >= 0 {
			return &entries[i]
		}
		return nil
	}
	all := s.list(runner.ListQuery{})
	one, two := find(first, all), find(second, all)
	if one == nil || one.State != tracker.Failed || one.Name != "listed" || one.Submitted.Before(begin) {
		s.t.Errorf("the one that failed is listed as %+v", one)
	}
	if two == nil || two.State != tracker.Running {
		s.t.Errorf("the one that runs is listed as %+v", two)
	}
	if !slices.IsSortedFunc(all, func(a, b runner.ListEntry) int { return b.Submitted.Compare(a.Submitted) }) {
		s.t.Errorf("the list is not from the youngest to the oldest: %+v", all)
	}
	running := s.list(runner.ListQuery{States: []runner.State{tracker.Running}})
	if find(second, running) == nil || find(first, running) != nil {
		s.t.Errorf("those that run: %+v", running)
	}
	if since := s.list(runner.ListQuery{Since: time.Now().Add(time.Hour)}); len(since) != 0 {
		s.t.Errorf("those submitted since an hour from now: %+v", since)
	}
	if few := s.list(runner.ListQuery{Limit: 1}); len(few) != 1 {
		s.t.Errorf("at most one: %+v", few)
	}
	s.touch("go")
	s.wait(second)
}

func describe(s *suite) {
	role := s.role("r", "exit 6", "word")
	role.Env = map[string]string{"A": "b"}
	h := s.run(app("described", role))
	s.wait(h)
	d, err := s.runner("").Describe(s.t.Context(), h)
	if err != nil {
		s.t.Fatal(err)
	}
	if d.Handle != h || d.App.Name != "described" || len(d.App.Roles) != 1 {
		s.t.Fatalf("described as %+v", d)
	}
	got := d.App.Roles[0]
	if got.Name != "r" || got.Entrypoint != "sh" || !slices.Equal(got.Args, role.Args) || got.NumReplicas != 1 || got.Env["A"] != "b" {
		s.t.Errorf("its role is described as %+v", got)
	}
	s.check(d.Status, tracker.Failed, 6)
}

func (s *suite) checkGone(h runner.Handle) {
	s.t.Helper()
	if status, err := s.runner("").Status(s.t.Context(), h); !errors.Is(err, store.ErrNotExist) {
		s.t.Errorf("the status of what was deleted: %s, %v", status.State, err)
	}
	if slices.ContainsFunc(s.list(runner.ListQuery{}), func(e runner.ListEntry) bool { return e.Handle == h }) {
		s.t.Error("it is still listed")
	}
	if err := s.r.Delete(s.t.Context(), h, nil); err != nil {
		s.t.Errorf("to delete it once more: %v", err)
	}
}

func deleteEnded(s *suite) {
	h := s.run(app("deleted", s.role("r", "exit 0")))
	s.wait(h)
	if err := s.r.Delete(s.t.Context(), h, nil); err != nil {
		s.t.Fatal(err)
	}
	s.checkGone(h)
}

func deleteRunning(s *suite) {
	h := s.run(app("deleted", s.role("r", "echo $$ > pid; touch here; while :; do sleep 0.1; done")))
	s.untilFile("here")
	if err := s.r.Delete(s.t.Context(), h, &runner.EndOptions{CancelOptions: runner.CancelOptions{Grace: time.Second}}); err != nil {
		s.t.Fatal(err)
	}
	s.checkGone(h)
	s.noSurvivor("pid")
}

// An app belongs to the session in which it was submitted.
func sessions(s *suite) {
	mine, other := s.runner("blue"), s.runner("red")
	h, err := mine.Run(s.t.Context(), s.request(app("mine", s.role("r", gate+"exit 0"))))
	if err != nil {
		s.t.Fatal(err)
	}
	s.endAfter(h)
	if h.Session != "blue" {
		s.t.Errorf("the handle is %s", h)
	}
	s.untilState(h, tracker.Running)
	if !slices.ContainsFunc(s.list(runner.ListQuery{}), func(e runner.ListEntry) bool { return e.Handle == h }) {
		s.t.Errorf("it is not listed as %s", h)
	}
	if err := other.Cancel(s.t.Context(), h, nil); !errors.Is(err, store.ErrPermission) {
		s.t.Errorf("cancelled from another session: %v", err)
	}
	if err := other.Delete(s.t.Context(), h, nil); !errors.Is(err, store.ErrPermission) {
		s.t.Errorf("deleted from another session: %v", err)
	}
	if status, err := other.Status(s.t.Context(), h); err != nil || status.State != tracker.Running || status.Handle != h {
		s.t.Errorf("asked from another session: %+v, %v", status, err)
	}
	if err := other.Cancel(s.t.Context(), h, &runner.EndOptions{Force: true, CancelOptions: runner.CancelOptions{Grace: time.Second}}); err != nil {
		s.t.Errorf("forced from another session: %v", err)
	}
	if status := s.wait(h); status.State != tracker.Cancelled {
		s.t.Errorf("it is %s", status.State)
	}
}

func unknownApp(s *suite) {
	h := runner.Handle{Scheduler: s.Scheduler, Session: "torchx", App: "never-was-bc1"}
	scheduler := s.Open(s.t)
	asked := map[string]func() error{
		"status":   func() error { _, err := scheduler.Status(s.t.Context(), h); return err },
		"cancel":   func() error { return scheduler.Cancel(s.t.Context(), h, runner.CancelOptions{}) },
		"wait":     func() error { _, err := s.r.Wait(s.t.Context(), h, nil); return err },
		"describe": func() error { _, err := s.r.Describe(s.t.Context(), h); return err },
		"logs": func() error {
			for _, err := range s.r.Logs(s.t.Context(), h, runner.LogQuery{}) {
				return err
			}
			return nil
		},
		"cancel what must exist": func() error { return s.r.Cancel(s.t.Context(), h, &runner.EndOptions{MustExist: true}) },
		"delete what must exist": func() error { return s.r.Delete(s.t.Context(), h, &runner.EndOptions{MustExist: true}) },
	}
	for what, ask := range asked {
		if err := ask(); !errors.Is(err, store.ErrNotExist) {
			s.t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.r.Cancel(s.t.Context(), h, nil); err != nil {
		s.t.Errorf("in the library there is nothing to cancel, but: %v", err)
	}
	if err := s.r.Delete(s.t.Context(), h, nil); err != nil {
		s.t.Errorf("in the library there is nothing to delete, but: %v", err)
	}
	if err := scheduler.Close(); err != nil {
		s.t.Error(err)
	}
}

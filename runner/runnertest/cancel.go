package runnertest

import (
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

func (s *suite) cancel(h runner.Handle, grace time.Duration) {
	s.t.Helper()
	if err := s.r.Cancel(s.t.Context(), h, &runner.EndOptions{CancelOptions: runner.CancelOptions{Grace: grace}}); err != nil {
		s.t.Fatalf("cancel %s: %v", h, err)
	}
}

// A job that is cancelled is told, may tidy up, and is not tried again.
func cancel(s *suite) {
	role := s.role("r", `trap 'echo told; touch told; exit 3' TERM; echo x >> ran; touch here; while :; do sleep 0.1; done`)
	role.MaxRetries = 3
	h := s.run(app("cancel", role))
	s.untilFile("here")
	s.cancel(h, 30*time.Second)
	s.cancel(h, 30*time.Second)
	status := s.wait(h)
	if status.State != tracker.Cancelled || status.ExitCode() == 0 {
		s.t.Errorf("it is %s with %d", status.State, status.ExitCode())
	}
	if !s.exists("told") || s.read("ran") != "x\n" {
		s.t.Errorf("it was told: %v; it ran: %q", s.exists("told"), s.read("ran"))
	}
	s.cancel(h, 0)
	if again, err := s.runner("").Status(s.t.Context(), h); err != nil || again.State != tracker.Cancelled {
		s.t.Errorf("asked by another process it is %s, %v", again.State, err)
	}
}

func cancelStubborn(s *suite) {
	role := s.role("r", `trap '' TERM; echo $$ > pid
		sh -c 'echo $$ > child; while :; do sleep 0.1; done' &
		while [ ! -e child ]; do sleep 0.05; done; touch here; while :; do sleep 0.1; done`)
	h := s.run(app("stubborn", role))
	s.untilFile("here")
	s.cancel(h, time.Second)
	if status := s.wait(h); status.State != tracker.Cancelled {
		s.t.Errorf("it is %s", status.State)
	}
	s.noSurvivor("pid")
	s.noSurvivor("child")
}

// Between two attempts there may be nothing to end but the intention.
func cancelRetrying(s *suite) {
	role := s.role("r", "echo x >> ran; exit 1")
	role.MaxRetries = 1000
	h := s.run(app("retrying", role))
	s.untilFile("ran")
	s.cancel(h, time.Second)
	status := s.wait(h)
	if status.State != tracker.Cancelled && status.State != tracker.Failed {
		s.t.Errorf("it is %s", status.State)
	}
	ran := s.read("ran")
	time.Sleep(200 * time.Millisecond)
	if again := s.read("ran"); again != ran {
		s.t.Errorf("it ran %d times more when it had ended", strings.Count(again, "x")-strings.Count(ran, "x"))
	}
}

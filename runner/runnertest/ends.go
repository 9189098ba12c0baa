package runnertest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// sub runs part of a case on a suite of its own.
func (s *suite) sub(name string, run func(s *suite)) {
	s.t.Run(name, func(t *testing.T) { run(newSuite(t, s.Harness)) })
}

func exitCodes(s *suite) {
	for _, code := range []int{1, 2, 7, 125, 127, 255} {
		s.sub(strconv.Itoa(code), func(s *suite) {
			status := s.result(app("code", s.role("r", "exit "+strconv.Itoa(code))))
			s.check(status, tracker.Failed, code)
			if r := s.replica(status, "r", 0); r.State != tracker.Failed || r.ExitCode == nil || *r.ExitCode != code || r.Signal != "" {
				s.t.Errorf("the replica: %+v", r)
			}
		})
	}
}

func signals(s *suite) {
	for _, c := range []struct {
		name string
		code int
	}{{"KILL", 137}, {"TERM", 143}, {"ABRT", 134}} {
		s.sub(c.name, func(s *suite) {
			status := s.result(app("signal", s.role("r", "ulimit -c 0; kill -"+c.name+" $$; sleep 60")))
			s.check(status, tracker.Failed, c.code)
			if r := s.replica(status, "r", 0); r.Signal != "SIG"+c.name || r.ExitCode != nil {
				s.t.Errorf("the replica: %+v", r)
			}
		})
	}
}

// What a job says of its own failure is part of its status.
func errorFile(s *suite) {
	status := s.result(app("said", s.role("r",
		`echo '{"message": {"message": "boom", "errorCode": 3, "extraInfo": {"timestamp": "1"}}}' > "$TORCHELASTIC_ERROR_FILE"; exit 3`)))
	s.check(status, tracker.Failed, 3)
	said := s.replica(status, "r", 0).Error
	if said == nil || said.Message != "boom" || said.Time.Unix() != 1 || status.Error == nil || status.Error.Message != "boom" {
		s.t.Errorf("of the replica %+v, of the app %+v", said, status.Error)
	}
}

func notFound(s *suite) {
	role := s.role("r", "")
	role.Entrypoint, role.MaxRetries = "./no-such-program", 3
	s.cannotStart(app("absent", role), 127, "no-such-program")
}

func notExecutable(s *suite) {
	if err := os.WriteFile(filepath.Join(s.dir, "plain-file"), []byte("text"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	role := s.role("r", "")
	role.Entrypoint = "./plain-file"
	s.cannotStart(app("plain", role), 126, "plain-file")
}

// cannotStart holds for an app whose program is not to be had: either it is refused
// or it fails with a shell's code, and both name the program.
func (s *suite) cannotStart(a runner.App, code int, program string) {
	s.t.Helper()
	plan, err := s.r.Plan(s.t.Context(), s.request(a))
	if err == nil {
		_, err = s.r.Submit(s.t.Context(), plan)
	}
	if err != nil {
		if !strings.Contains(err.Error(), program) {
			s.t.Errorf("it was refused without naming the program: %v", err)
		}
		return
	}
	s.endAfter(plan.Handle)
	status := s.wait(plan.Handle)
	s.check(status, tracker.Failed, code)
	r := s.replica(status, "r", 0)
	if said := r.Reason + status.Message + s.logs(plan.Handle, runner.LogQuery{Stream: runner.Stderr}); !strings.Contains(said, program) {
		s.t.Errorf("nothing names the program: %+v", status)
	}
}

// One that cannot start takes the others with it, those that started before too.
func oneCannotStart(s *suite) {
	bad := s.role("bad", "")
	bad.Entrypoint = "./no-such-program"
	good := s.role("good", "echo $$ > pid; "+"while :; do sleep 0.1; done")
	good.NumReplicas = 2
	plan := s.plan(app("half", good, bad))
	s.endAfter(plan.Handle)
	if _, err := s.r.Submit(s.t.Context(), plan); err == nil {
		status := s.wait(plan.Handle)
		s.check(status, tracker.Failed, 127)
		for id := range 2 {
			if r := s.replica(status, "good", id); r.State == tracker.Succeeded || r.State == tracker.Running {
				s.t.Errorf("good[%d] is %s", id, r.State)
			}
		}
	}
	s.noSurvivor("pid")
}

// noSurvivor waits until the process is gone whose number a file holds, if there is
// one.
func (s *suite) noSurvivor(name string) {
	s.t.Helper()
	if !s.Local || !s.exists(name) {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(s.read(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.until("the process "+strconv.Itoa(pid)+" is gone", func() bool { return !alive(pid) })
}

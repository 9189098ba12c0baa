package runnertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Harness is a scheduler under test. Scheduler, Open and Dir are needed.
type Harness struct {
	Scheduler string // its name in handles
	// Open opens it, each time as another process would.
	Open func(t *testing.T) runner.Scheduler
	// Dir makes an empty directory that the suite and the replicas both see.
	Dir func(t *testing.T) string

	// Request is what every app is run with beside the app itself: options, what is
	// recorded. It may be nil.
	Request func(t *testing.T) runner.Request
	// Runner is what every Runner of the suite is given; nil = all zero.
	Runner   *runner.Options
	Resource runner.Resource // of each replica

	Policies []runner.RetryPolicy // that it has; nil = RetryApplication
	// Patience is how long one step may take; 0 = 2 min.
	Patience time.Duration
	// Local says that the processes of replicas can be seen from here.
	Local bool
}

// suite is a harness in one case.
type suite struct {
	*Harness
	t   *testing.T
	r   *runner.Runner
	dir string // working directory of the apps
}

func newSuite(t *testing.T, h *Harness) *suite {
	s := &suite{Harness: h, t: t, dir: h.Dir(t)}
	s.r = s.runner("")
	return s
}

// runner makes a runner of a session that knows nothing of the others.
func (s *suite) runner(session string) *runner.Runner {
	s.t.Helper()
	backend := runner.Backend{Name: s.Scheduler, Open: func(context.Context) (runner.Scheduler, error) { return s.Open(s.t), nil }}
	r, err := runner.New(session, []runner.Backend{backend}, s.Runner)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	})
	return r
}

// role is a role that runs a script of sh with these arguments, as $1 and so on.
// Macros in the script are not replaced, those in the arguments are.
func (s *suite) role(name, script string, args ...string) runner.Role {
	return runner.Role{
		Name: name, Entrypoint: "sh", NumReplicas: 1, Resource: s.Resource,
		Args: append([]string{"-c", runner.EscapeMacros(script), "sh"}, args...),
	}
}

func app(name string, roles ...runner.Role) runner.App { return runner.App{Name: name, Roles: roles} }

func (s *suite) request(a runner.App) runner.Request {
	var request runner.Request
	if s.Request != nil {
		request = s.Request(s.t)
	}
	request.App, request.Scheduler, request.Dir = a, s.Scheduler, s.dir
	return request
}

func (s *suite) plan(a runner.App) *runner.Plan {
	s.t.Helper()
	plan, err := s.r.Plan(s.t.Context(), s.request(a))
	if err != nil {
		s.t.Fatalf("plan: %v", err)
	}
	return plan
}

// run submits an app, and sees to it that it does not outlive the case.
func (s *suite) run(a runner.App) runner.Handle {
	s.t.Helper()
	h, err := s.r.Run(s.t.Context(), s.request(a))
	if err != nil {
		s.t.Fatalf("run: %v", err)
	}
	s.endAfter(h)
	return h
}

func (s *suite) endAfter(h runner.Handle) {
	s.t.Cleanup(func() {
		r, err := runner.New(h.Session, s.r.Backends(), s.Runner)
		if err == nil {
			err = r.Delete(context.Background(), h, &runner.EndOptions{CancelOptions: runner.CancelOptions{Grace: time.Millisecond}, Force: true})
		}
		if err != nil && !errors.Is(err, store.ErrNotExist) {
			s.t.Errorf("delete %s at the end: %v", h, err)
		}
	})
}

// deadline is a context for one step.
func (s *suite) deadline() context.Context {
	patience := s.Patience
	if patience == 0 {
		patience = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), patience, errors.New("the step took too long"))
	s.t.Cleanup(cancel)
	return ctx
}

// wait waits for the end of an app.
func (s *suite) wait(h runner.Handle) runner.AppStatus {
	s.t.Helper()
	status, err := s.r.Wait(s.deadline(), h, &runner.WaitOptions{Every: time.Second})
	if err != nil {
		s.t.Fatalf("wait for %s: %v; it is %s (%s)", h, err, status.State, status.Message)
	}
	return status
}

// result runs an app to its end.
func (s *suite) result(a runner.App) runner.AppStatus {
	s.t.Helper()
	return s.wait(s.run(a))
}

// until asks again and again until so says yes.
func (s *suite) until(what string, so func() bool) {
	s.t.Helper()
	ctx := s.deadline()
	for !so() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("not within the time: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// untilState waits until an app is in a state, and gives its status then.
func (s *suite) untilState(h runner.Handle, state runner.State) (status runner.AppStatus) {
	s.t.Helper()
	s.until(fmt.Sprintf("%s is %s", h, state), func() bool {
		var err error
		if status, err = s.r.Status(s.t.Context(), h); err != nil {
			s.t.Fatalf("status: %v", err)
		}
		if status.Settled() && status.State != state {
			s.t.Fatalf("%s is %s (%s), not %s", h, status.State, status.Message, state)
		}
		return status.State == state
	})
	return status
}

// untilFile waits until a replica has made a file.
func (s *suite) untilFile(name string) {
	s.t.Helper()
	s.until(name+" is there", func() bool { return s.exists(name) })
}

func (s *suite) exists(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// touch makes a file that a replica waits for.
func (s *suite) touch(name string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// read gives what a replica wrote to a file.
func (s *suite) read(name string) string {
	s.t.Helper()
	body, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(body)
}

// lines gives the lines that a file holds, sorted, since several replicas may have
// written them.
func (s *suite) lines(name string) []string {
	s.t.Helper()
	lines := strings.Split(strings.TrimSuffix(s.read(name), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// logs gives the text of an app's logs.
func (s *suite) logs(h runner.Handle, query runner.LogQuery) string {
	s.t.Helper()
	var b strings.Builder
	for _, line := range s.logLines(h, query) {
		b.WriteString(line.Text)
	}
	return b.String()
}

func (s *suite) logLines(h runner.Handle, query runner.LogQuery) []runner.LogLine {
	s.t.Helper()
	var lines []runner.LogLine
	for line, err := range s.r.Logs(s.deadline(), h, query) {
		if err != nil {
			s.t.Fatalf("logs of %s: %v", h, err)
		}
		lines = append(lines, line)
	}
	return lines
}

// check holds the end of an app against what it should be; code is that of the app.
func (s *suite) check(status runner.AppStatus, state runner.State, code int) {
	s.t.Helper()
	if status.State != state || status.ExitCode() != code {
		s.t.Errorf("the app ended %s with %d (%s), want %s with %d\n%+v", status.State, status.ExitCode(), status.Message, state, code, status.Roles)
	}
}

// replica gives the status of a replica that must be there.
func (s *suite) replica(status runner.AppStatus, role string, id int) runner.ReplicaStatus {
	s.t.Helper()
	replica := status.Replica(role, id)
	if replica == nil {
		s.t.Fatalf("there is no status of %s[%d]: %+v", role, id, status.Roles)
	}
	return *replica
}

func (h *Harness) has(policy runner.RetryPolicy) bool {
	return policy == runner.RetryApplication || slices.Contains(h.Policies, policy)
}

func isDone(state runner.State) bool { return state.Terminal() || state == tracker.Lost }

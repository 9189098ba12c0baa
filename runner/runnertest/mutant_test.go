//go:build unix

package runnertest_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/runnertest"
	"github.com/heirloom-ml/heirloom/tracker"
)

const envMutant = "HEIRLOOM_TEST_MUTANT"

// mutant is a Fake with a defect.
type mutant struct {
	*runnertest.Fake
	name string
}

// mutants names each defect and a case that must reject it.
func mutants() map[string]string {
	return map[string]string{
		"forgets exit codes": "exit codes", "takes signals for codes": "signals", "keeps no error file": "error file",
		"runs twice what is submitted twice": "submitted once", "has finished what it submits": "every state", "says failed for cancelled": "cancel",
		"does not cancel": "cancel", "never tries again": "retries to success", "replaces no macros": "macros", "starts one role only": "several roles",
		"tears lines": "log lines", "loses the end of a log": "logs while running", "gives every role's log": "logs by role and replica",
		"gives one stream for another": "logs by stream", "ignores times": "logs by time", "lists all states": "list", "forgets what it ran": "describe",
		"does not delete": "delete", "has one session": "sessions", "knows what never was": "unknown app",
	}
}

func (m *mutant) Submit(ctx context.Context, plan *runner.Plan) (runner.Submission, error) {
	changed := *plan
	changed.App = plan.App.Clone()
	switch m.name {
	case "runs twice what is submitted twice":
		_ = m.Fake.Delete(ctx, plan.Handle, runner.CancelOptions{})
	case "never tries again":
		changed.App.Roles[0].MaxRetries = 0
	case "replaces no macros":
		for i, arg := range changed.App.Roles[0].Args {
			changed.App.Roles[0].Args[i] = strings.ReplaceAll(arg, "${", "$${")
		}
	case "starts one role only":
		changed.App.Roles = changed.App.Roles[:1]
		changed.App.Roles[0].Args[1] = "exit 0"
	}
	return m.Fake.Submit(ctx, &changed)
}

func (m *mutant) Status(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	s, err := m.Fake.Status(ctx, h)
	one := 1
	for _, role := range s.Roles {
		for i := range role.Replicas {
			switch r := &role.Replicas[i]; {
			case m.name == "forgets exit codes" && r.State == tracker.Failed:
				r.ExitCode = &one
			case m.name == "takes signals for codes" && r.Signal != "":
				code := r.Code()
				r.Signal, r.ExitCode = "", &code
			case m.name == "keeps no error file":
				r.Error, s.Error = nil, nil
			}
		}
	}
	switch {
	case m.name == "has finished what it submits":
		s.State = tracker.Succeeded
	case m.name == "says failed for cancelled" && s.State == tracker.Cancelled:
		s.State = tracker.Failed
	case m.name == "has one session":
		s.Handle.Session = tracker.DefaultSession
	case m.name == "knows what never was" && err != nil:
		return runner.AppStatus{Handle: h, State: tracker.Unknown}, nil
	}
	return s, err
}

func (m *mutant) Wait(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	if _, err := m.Fake.Wait(ctx, h); err != nil {
		return runner.AppStatus{}, err
	}
	return m.Status(ctx, h)
}

func (m *mutant) Cancel(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	if m.name == "does not cancel" {
		return nil
	}
	return m.Fake.Cancel(ctx, h, opts)
}

func (m *mutant) Delete(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	if m.name == "does not delete" {
		return nil
	}
	return m.Fake.Delete(ctx, h, opts)
}

func (m *mutant) Describe(ctx context.Context, h runner.Handle) (runner.Description, error) {
	d, err := m.Fake.Describe(ctx, h)
	if m.name == "forgets what it ran" && err == nil {
		d.App.Roles[0].Args = nil
	}
	return d, err
}

func (m *mutant) List(ctx context.Context, query runner.ListQuery) iter.Seq2[runner.ListEntry, error] {
	if m.name == "lists all states" {
		query.States = nil
	}
	return m.Fake.List(ctx, query)
}

func (m *mutant) Logs(ctx context.Context, h runner.Handle, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	switch m.name {
	case "gives every role's log":
		query.Role = ""
	case "gives one stream for another":
		query.Stream = runner.Combined
	case "ignores times":
		query.Since, query.Until = time.Time{}, time.Time{}
	}
	return func(yield func(runner.LogLine, error) bool) {
		for line, err := range m.Fake.Logs(ctx, h, query) {
			whole := line.Text
			if m.name == "loses the end of a log" && strings.HasPrefix(whole, "end") {
				return
			}
			if m.name == "tears lines" && len(whole) > 65536 {
				line.Text = whole[:65536]
				if !yield(line, err) {
					return
				}
				line.Text = whole[65536:]
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// TestMutant runs the cases on a defective scheduler, in a process that TestSuiteRejects
// starts.
func TestMutant(t *testing.T) {
	name := os.Getenv(envMutant)
	if name == "" {
		t.Skip("TestSuiteRejects runs it")
	}
	m := &mutant{runnertest.NewFake(t.TempDir(), []string{"PATH=" + os.Getenv("PATH")}), name}
	t.Cleanup(func() { _ = m.Shut() })
	runnertest.RunConformance(t, runnertest.Harness{
		Scheduler: "fake", Patience: 10 * time.Second,
		Open: func(*testing.T) runner.Scheduler { return m },
		Dir:  func(t *testing.T) string { return t.TempDir() },
	})
}

// Each defect is found by the case that is there for it.
func TestSuiteRejects(t *testing.T) {
	for name, found := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pattern := "^TestMutant$/^" + strings.ReplaceAll(found, " ", "_") + "$"
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", pattern, "-test.v")
			cmd.Env = append(os.Environ(), envMutant+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestMutant/") || strings.Contains(string(out), "panic:") {
				t.Errorf("the case %q passes it (%v):\n%s", found, err, out)
			}
		})
	}
}

package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// scripted is a scheduler that answers as told and notes what it was asked.
type scripted struct {
	calls  []string
	status func() (runner.AppStatus, error)
	submit error
}

type scriptedOptions struct {
	Queue string `opt:"queue" default:"main" help:"where"`
	Key   string `opt:"api_key" help:"a secret"`
}

func (s *scripted) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *scripted) Options() *runner.OptionSet {
	set, _ := runner.OptionsOf(scriptedOptions{})
	return set
}

func (s *scripted) ValidateEarly(_ context.Context, p *runner.Plan) error {
	s.note("early %v %q", p.App.Roles[0].Resource, p.App.Roles[0].Workspace)
	return nil
}

func (s *scripted) Validate(_ context.Context, p *runner.Plan) error {
	s.note("validate %q", p.App.Roles[0].Workspace)
	return nil
}

func (s *scripted) Prepare(_ context.Context, p *runner.Plan) error {
	s.note("prepare %s", p.Options["queue"])
	p.Request = []string{"submit", p.App.Name}
	return nil
}

func (s *scripted) Submit(_ context.Context, p *runner.Plan) (runner.Submission, error) {
	s.note("submit %v", p.Request)
	return runner.Submission{JobID: "77"}, s.submit
}

func (s *scripted) Status(_ context.Context, h runner.Handle) (runner.AppStatus, error) {
	s.note("status")
	status, err := s.status()
	status.Handle = h
	return status, err
}

func (s *scripted) Cancel(_ context.Context, h runner.Handle, opts runner.CancelOptions) error {
	s.note("cancel %s %s", h, opts.Grace)
	return nil
}

func (s *scripted) Close() error { s.note("close"); return nil }

// workspaces and recorder note their calls in those of a scheduler.
type workspaces struct{ s *scripted }

func (w workspaces) Measure(_ context.Context, _ *runner.Plan, role *runner.Role) error {
	w.s.note("measure")
	for i := range role.Workspace {
		role.Workspace[i].Digest = "sha256:x"
	}
	return nil
}

func (w workspaces) Keep(_ context.Context, _ *runner.Plan, role *runner.Role) error {
	w.s.note("keep %s", role.Workspace[0].Digest)
	return nil
}

type recorder struct {
	s       *scripted
	refuses error
}

func (r recorder) Submitting(context.Context, *runner.Plan) error {
	r.s.note("submitting")
	return r.refuses
}

func (r recorder) Submitted(_ context.Context, _ *runner.Plan, sub runner.Submission) error {
	r.s.note("submitted %s", sub.JobID)
	return nil
}

func (r recorder) NotSubmitted(_ context.Context, _ *runner.Plan, cause error) error {
	r.s.note("not submitted: %v", cause)
	return nil
}

func newRunner(t *testing.T, s runner.Scheduler, session string, opts *runner.Options) *runner.Runner {
	t.Helper()
	table := []runner.Backend{{Name: "scripted", Open: func(context.Context) (runner.Scheduler, error) { return s, nil }}}
	r, err := runner.New(session, table, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func oneRole() runner.App {
	return runner.App{Name: "app", Roles: []runner.Role{{
		Name: "r", Image: "img", Entrypoint: "sh", Args: []string{"-c", "x", "--password=hunter2hunter2"}, NumReplicas: 1,
		Env: map[string]string{"API_KEY": "hunter2hunter2", "N": "1"}, Resource: runner.Resource{CPU: 1},
	}}}
}

// Planning goes in its order, and submitting keeps what was measured and records around
// what is sent.
func TestOrder(t *testing.T) {
	s := &scripted{}
	r := newRunner(t, s, "", &runner.Options{Workspaces: workspaces{s}, Recorder: recorder{s: s}})
	app := oneRole()
	app.Roles[0].Resource = runner.Resource{}
	app.Roles[0].Override = func(_ context.Context, role *runner.Role) error {
		s.note("override")
		role.Resource = runner.Resource{CPU: 2}
		return nil
	}
	app.Roles[0].PreProcess = func(_ context.Context, scheduler string, p *runner.Plan) error {
		s.note("pre-process for %s", scheduler)
		p.Request = append(p.Request.([]string), "hooked")
		return nil
	}
	request := runner.Request{App: app, Config: runner.Config{"queue": "q"}, Workspace: []runner.WorkspaceDir{{From: "/w"}}}
	plan, err := r.Plan(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	plan.Request = append(plan.Request.([]string), "edited")
	if _, err := r.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"override", `early {2 0 0 map[] map[] map[]} [{"/w" "" ""}]`, "measure", `validate [{"/w" "" "sha256:x"}]`, "prepare q", "pre-process for scripted",
		"keep sha256:x", "submitting", "submit [submit app hooked edited]", "submitted 77",
	}
	if !slices.Equal(s.calls, want) {
		t.Errorf("got  %q\nwant %q", s.calls, want)
	}
	if len(request.Workspace[0].Digest) > 0 || app.Roles[0].Workspace != nil || app.Roles[0].Resource.CPU != 0 {
		t.Error("what was given is changed")
	}
}

func TestNotSubmitted(t *testing.T) {
	s := &scripted{submit: fmt.Errorf("no answer: %w", store.ErrUnavailable)}
	r := newRunner(t, s, "", &runner.Options{Recorder: recorder{s: s}})
	if _, err := r.Run(t.Context(), runner.Request{App: oneRole()}); !errors.Is(err, store.ErrUnavailable) || !slices.Contains(s.calls, "not submitted: no answer: resource temporarily unavailable") &&
		!strings.HasPrefix(s.calls[len(s.calls)-1], "not submitted: no answer") {
		t.Errorf("got %v, %q", err, s.calls)
	}
	s = &scripted{}
	r = newRunner(t, s, "", &runner.Options{Recorder: recorder{s, store.ErrNoSpace}})
	if _, err := r.Run(t.Context(), runner.Request{App: oneRole()}); !errors.Is(err, store.ErrNoSpace) || s.calls[len(s.calls)-1] != "submitting" {
		t.Errorf("what cannot be recorded is submitted: %v, %q", err, s.calls)
	}
}

// What a scheduler has no power for is refused, not ignored.
func TestMissingPowers(t *testing.T) {
	s := &scripted{status: func() (runner.AppStatus, error) { return runner.AppStatus{State: tracker.Running}, nil }}
	r := newRunner(t, s, "", nil)
	h := runner.Handle{Scheduler: "scripted", Session: "torchx", App: "a"}
	if err := firstError(r.Logs(t.Context(), h, runner.LogQuery{})); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("logs: %v", err)
	}
	if err := firstError(r.List(t.Context(), "scripted", runner.ListQuery{})); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("list: %v", err)
	}
	if d, err := r.Describe(t.Context(), h); err != nil || d.Status.State != tracker.Running || d.App.Name != "a" || d.Handle != h {
		t.Errorf("describe: %+v, %v", d, err)
	}
}

func firstError[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// Each call is one event, in words of TorchX's, without secrets.
func TestEvents(t *testing.T) {
	var events bytes.Buffer
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := &scripted{status: func() (runner.AppStatus, error) { return runner.AppStatus{}, store.ErrNotExist }}
	clock := func() time.Time { now = now.Add(time.Millisecond); return now }
	r := newRunner(t, s, "", &runner.Options{Events: slog.NewJSONHandler(&events, nil), Now: clock})
	ctx, h := t.Context(), runner.Handle{Scheduler: "scripted", Session: "torchx", App: "a"}
	app := oneRole()
	app.Metadata = map[string]string{"team": "x", "token": "hunter2hunter2"}
	request := runner.Request{App: app, RunID: "scripted://torchx/app-1", Config: runner.Config{"api_key": "hunter2hunter2"}}
	calls := []struct {
		api  string
		call func() error
	}{
		{"run", func() error { _, err := r.Run(ctx, request); return err }},
		{"plan", func() error { _, err := r.Plan(ctx, request); return err }},
		{"submit", func() error { _, err := r.Submit(ctx, &runner.Plan{Scheduler: "scripted", Handle: h}); return err }},
		{"run component", func() error { _, err := r.RunComponent(ctx, runner.ComponentRequest{Component: "c"}); return err }},
		{"plan component", func() error { _, err := r.PlanComponent(ctx, runner.ComponentRequest{Component: "c"}); return err }},
		{"status", func() error { _, err := r.Status(ctx, h); return err }},
		{"wait", func() error { _, err := r.Wait(ctx, h, nil); return err }},
		{"cancel", func() error { return r.Cancel(ctx, h, nil) }},
		{"delete", func() error { return r.Delete(ctx, h, nil) }},
		{"describe", func() error { _, err := r.Describe(ctx, h); return err }},
		{"list", func() error { return firstError(r.List(ctx, "scripted", runner.ListQuery{})) }},
		{"logs", func() error { return firstError(r.Logs(ctx, h, runner.LogQuery{})) }},
		{"options", func() error { _, err := r.Options(ctx, "bogus"); return err }},
		{"parse config", func() error { _, err := r.ParseConfig(ctx, "scripted", "queue=a", "queue=b"); return err }},
		{"close", func() error { return r.Close() }},
	}
	for _, c := range calls {
		events.Reset()
		err := c.call()
		var event map[string]any
		if jsonErr := json.Unmarshal(events.Bytes(), &event); jsonErr != nil {
			t.Errorf("%s: not one event: %s", c.api, events.String())
			continue
		}
		if event["api"] != c.api || event["session"] != "torchx" || event["start"] == nil || event["wall_time_usec"].(float64) <= 0 || (event["error"] != nil) != (err != nil) {
			t.Errorf("%s: %v of %v", c.api, event, err)
		}
		if strings.Contains(events.String(), "hunter2") {
			t.Errorf("%s tells a secret: %s", c.api, events.String())
		}
		if c.api == "run" && (event["app_id"] != "app-1" || event["scheduler"] != "scripted" || event["app_image"] != "img" || event["runcfg"] == nil || event["app_metadata"] == nil) {
			t.Errorf("run: %v", event)
		}
		if c.api == "status" && (event["error_kind"] != "not exist" || event["handle"] != h.String()) {
			t.Errorf("status: %v", event)
		}
	}
	if _, err := r.Status(ctx, h); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a runner that is closed: %v", err)
	}
	if err := r.Close(); err != nil || s.calls[len(s.calls)-1] != "close" {
		t.Errorf("closed twice: %v, %q", err, s.calls)
	}
}

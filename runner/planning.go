package runner

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Request asks for a run. App is needed, the rest may be zero.
type Request struct {
	App       App            // it is not changed
	Scheduler string         // "" = the first of the table
	Config    Config         // options of the scheduler; nil = the defaults
	RunID     tracker.RunID  // "" = a new one
	Dir       string         // working directory of the replicas, absolute; "" = the scheduler's choice
	Workspace []WorkspaceDir // replaces that of the first role; nil = it has its own
	Recording Recording
}

// Plan settles all about a run and changes nothing: it is the dry run. The request of
// the plan may be edited before Submit. In this order: the app is copied, overridden and
// validated, the options are resolved and the run gets its id, the scheduler looks at
// it (EarlyValidator), the workspaces are measured, missing resources are
// filled in or refused, the scheduler looks again (Validator) and makes the request,
// and each role's PreProcess is called.
func (r *Runner) Plan(ctx context.Context, request Request) (plan *Plan, err error) {
	event := r.event("plan")
	event.scheduler, event.app = request.Scheduler, &request.App
	defer func() { event.of(plan); event.end(ctx, err) }()
	return r.plan(ctx, request)
}

func (r *Runner) plan(ctx context.Context, request Request) (*Plan, error) {
	if request.Scheduler == "" && len(r.backends) > 0 {
		request.Scheduler = r.backends[0].Name
	}
	s, err := r.Scheduler(ctx, request.Scheduler)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Version: PlanVersion, Launch: rand.Text(), Scheduler: request.Scheduler, Session: r.session,
		App: request.App.Clone(), Dir: request.Dir, Planned: r.opts.Now().UTC(), Recording: request.Recording,
	}
	if err := r.settleApp(ctx, p, request); err != nil {
		return nil, err
	}
	if p.Options, err = s.Options().Resolve(request.Config); err != nil {
		return nil, err
	}
	if err := p.name(request.RunID); err != nil {
		return nil, err
	}
	if err := r.inspect(ctx, s, p); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx, p); err != nil {
		return nil, err
	}
	for i := range p.App.Roles {
		if role := &p.App.Roles[i]; role.PreProcess != nil {
			if err := role.PreProcess(ctx, p.Scheduler, p); err != nil {
				return nil, fmt.Errorf("pre-process role %s: %w", role.Name, err)
			}
		}
	}
	return p, nil
}

// settleApp makes the plan's app what it is to be.
func (r *Runner) settleApp(ctx context.Context, p *Plan, request Request) error {
	if request.Workspace != nil && len(p.App.Roles) > 0 {
		p.App.Roles[0].Workspace = slices.Clone(request.Workspace)
	}
	for i := range p.App.Roles {
		role := &p.App.Roles[i]
		if role.Override != nil {
			if err := role.Override(ctx, role); err != nil {
				return fmt.Errorf("override role %s: %w", role.Name, err)
			}
		}
		if len(role.Workspace) > 0 && r.opts.Workspaces == nil {
			return fmt.Errorf("role %s has a workspace, and nothing here keeps workspaces: %w", role.Name, store.ErrUnsupported)
		}
	}
	if p.Dir != "" && !filepath.IsAbs(p.Dir) {
		return invalid("the working directory %q is not absolute", p.Dir)
	}
	return p.App.Validate()
}

// name gives the run its id and the app its handle.
func (p *Plan) name(given tracker.RunID) (err error) {
	p.RunID, p.Fresh = given, given == ""
	if given == "" {
		p.RunID, err = tracker.NewRunID(p.Scheduler, p.Session, p.App.Name)
	} else {
		p.RunID, err = tracker.ParseRunID(string(given))
	}
	if err != nil {
		return err
	}
	if p.Handle, err = ParseHandle(string(p.RunID)); err != nil || p.Handle.Scheduler != p.Scheduler {
		p.Handle, err = Handle{p.Scheduler, p.Session, appID(p.RunID)}, nil
	}
	p.Session = p.Handle.Session
	return err
}

// appID is the app's part of a handle for a run whose id was given in another form.
// Different runs have different ones.
func appID(run tracker.RunID) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, string(run))
	if safe == string(run) && safe != "." && safe != ".." {
		return safe
	}
	sum := sha256.Sum256([]byte(run))
	return strings.Trim(safe[:min(len(safe), 60)], "-.") + "-" + hex.EncodeToString(sum[:6])
}

// inspect validates the app, before and after its workspaces are measured.
func (r *Runner) inspect(ctx context.Context, s Scheduler, p *Plan) error {
	if v, ok := s.(EarlyValidator); ok {
		if err := v.ValidateEarly(ctx, p); err != nil {
			return err
		}
	}
	for i := range p.App.Roles {
		if role := &p.App.Roles[i]; len(role.Workspace) > 0 {
			if err := r.opts.Workspaces.Measure(ctx, p, role); err != nil {
				return fmt.Errorf("workspace of role %s: %w", role.Name, err)
			}
		}
	}
	defaulter, fills := s.(ResourceDefaulter)
	for i := range p.App.Roles {
		switch role := &p.App.Roles[i]; {
		case !role.Resource.IsZero():
		case fills:
			role.Resource = defaulter.DefaultResource(role)
		default:
			return noResource(role)
		}
	}
	if v, ok := s.(Validator); ok {
		return v.Validate(ctx, p)
	}
	return nil
}

// Submit keeps the workspaces of a plan, hands it to its scheduler and returns the
// app's handle. Nothing is submitted when the plan cannot be recorded. To submit one plan again is
// to submit it once.
func (r *Runner) Submit(ctx context.Context, plan *Plan) (h Handle, err error) {
	event := r.event("submit")
	event.of(plan)
	defer func() { event.end(ctx, err) }()
	return r.submit(ctx, plan)
}

func (r *Runner) submit(ctx context.Context, plan *Plan) (Handle, error) {
	s, err := r.Scheduler(ctx, plan.Scheduler)
	if err != nil {
		return Handle{}, err
	}
	for i := range plan.App.Roles {
		role := &plan.App.Roles[i]
		if len(role.Workspace) == 0 {
			continue
		}
		if r.opts.Workspaces == nil {
			return Handle{}, fmt.Errorf("role %s has a workspace, and nothing here keeps workspaces: %w", role.Name, store.ErrUnsupported)
		}
		if err := r.opts.Workspaces.Keep(ctx, plan, role); err != nil {
			return Handle{}, fmt.Errorf("keep workspace of role %s: %w", role.Name, err)
		}
	}
	if r.opts.Recorder == nil {
		_, err := s.Submit(ctx, plan)
		return plan.Handle, submitError(plan, err)
	}
	return plan.Handle, r.recorded(ctx, s, plan)
}

// recorded submits a plan and records that.
func (r *Runner) recorded(ctx context.Context, s Scheduler, plan *Plan) error {
	if err := r.opts.Recorder.Submitting(ctx, plan); err != nil {
		return fmt.Errorf("record %s before it is submitted: %w", plan.RunID, err)
	}
	submission, err := s.Submit(ctx, plan)
	if err != nil {
		told := r.opts.Recorder.NotSubmitted(context.WithoutCancel(ctx), plan, err)
		return reasons(submitError(plan, err), told)
	}
	if err := r.opts.Recorder.Submitted(context.WithoutCancel(ctx), plan, submission); err != nil {
		return fmt.Errorf("record that %s was submitted, which it is: %w", plan.RunID, err)
	}
	return nil
}

func submitError(plan *Plan, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("submit %s: %w", plan.Handle, err)
}

// Run is Plan and Submit.
func (r *Runner) Run(ctx context.Context, request Request) (h Handle, err error) {
	event := r.event("run")
	event.scheduler, event.app = request.Scheduler, &request.App
	var plan *Plan
	defer func() { event.of(plan); event.end(ctx, err) }()
	if plan, err = r.plan(ctx, request); err != nil {
		return Handle{}, err
	}
	return r.submit(ctx, plan)
}

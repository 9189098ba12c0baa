package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Options are what a Runner may be given; nil is all zero.
type Options struct {
	// Events gets one record for each call of a method: session, api, scheduler, app,
	// how long it took, and how it failed; nil = none.
	Events     slog.Handler
	Workspaces Workspaces // nil = an app with a workspace is refused
	Components Components // nil = there are none
	Recorder   Recorder   // nil = what is submitted is recorded by the side that runs it alone
	// Now is the clock; nil = time.Now.
	Now func() time.Time
}

// Recorder records what is known of a run when it is submitted. Its errors keep
// it from being submitted.
type Recorder interface {
	// Submitting is called before the scheduler is asked.
	Submitting(ctx context.Context, plan *Plan) error
	// Submitted is called when the scheduler took the plan.
	Submitted(ctx context.Context, plan *Plan, submission Submission) error
	// NotSubmitted is called when it did not, or when that is not known.
	NotSubmitted(ctx context.Context, plan *Plan, cause error) error
}

// Components make apps by name.
type Components interface {
	// Component makes the app of a component. args are as on the command line; values
	// are by the names of the component's parameters, and args win over them.
	// Errors have the kinds store.ErrNotExist and store.ErrInvalid.
	Component(ctx context.Context, name string, args []string, values map[string]any) (App, error)
}

// Runner submits apps to schedulers and follows them. It is TorchX's Runner; the
// table in docs/torchx.md has each of its methods. It may be used by several
// goroutines.
type Runner struct {
	session  string
	backends []Backend
	opts     Options

	mu     sync.Mutex // guards what is below
	open   map[string]Scheduler
	closed bool
}

// New makes a runner of a session, "" for tracker.DefaultSession, and a table of
// schedulers, of which the first is used where none is named. A session of other
// characters than letters, digits, ".", "_" and "-" is an error of kind store.ErrInvalid, as is
// a table in which a name is there twice.
func New(session string, backends []Backend, opts *Options) (*Runner, error) {
	r := &Runner{session: session, backends: slices.Clone(backends), open: map[string]Scheduler{}}
	if r.session == "" {
		r.session = tracker.DefaultSession
	}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.Now == nil {
		r.opts.Now = time.Now
	}
	seen := map[string]bool{}
	for _, b := range backends {
		if seen[b.Name] {
			return nil, invalid("two schedulers are called %s", b.Name)
		}
		seen[b.Name] = true
		if _, err := tracker.NewRunID(b.Name, r.session, "app"); err != nil { // would no run get an id?
			return nil, err
		}
	}
	return r, nil
}

// Session is the session of what the runner submits.
func (r *Runner) Session() string { return r.session }

// Backends lists the table of schedulers.
func (r *Runner) Backends() []Backend { return slices.Clone(r.backends) }

// Scheduler opens a scheduler of the table, once. The error has kind
// store.ErrNotExist, with the names that there are, or is the scheduler's own.
func (r *Runner) Scheduler(ctx context.Context, name string) (Scheduler, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, invalid("the runner is closed")
	}
	if s, ok := r.open[name]; ok {
		return s, nil
	}
	i := slices.IndexFunc(r.backends, func(b Backend) bool { return b.Name == name })
	if i < 0 {
		return nil, r.unknownScheduler(name)
	}
	s, err := r.backends[i].Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open scheduler %s: %w", name, err)
	}
	r.open[name] = s
	return s, nil
}

func (r *Runner) unknownScheduler(name string) error {
	var names []string
	for _, b := range r.backends {
		names = append(names, b.Name)
	}
	return &torchxError{fmt.Sprintf("Scheduler backend: %s does not exist. "+AdviceScheduler+"%s: %s",
		name, suggest(name, names), strings.Join(names, ", ")), store.ErrNotExist}
}

// unknownApp is TorchX's UnknownAppException.
func unknownApp(h Handle) error {
	return &torchxError{fmt.Sprintf("Unknown app = %s. "+AdviceApp, h), store.ErrNotExist}
}

// Options are the options of a scheduler, TorchX's run options.
func (r *Runner) Options(ctx context.Context, scheduler string) (set *OptionSet, err error) {
	event := r.event("options")
	event.scheduler = scheduler
	defer func() { event.end(ctx, err) }()
	s, err := r.Scheduler(ctx, scheduler)
	if err != nil {
		return nil, err
	}
	return s.Options(), nil
}

// ParseConfig reads options of a scheduler as the command line has them; later
// texts win.
func (r *Runner) ParseConfig(ctx context.Context, scheduler string, texts ...string) (cfg Config, err error) {
	event := r.event("parse config")
	event.scheduler = scheduler
	defer func() { event.end(ctx, err) }()
	s, err := r.Scheduler(ctx, scheduler)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		more, err := s.Options().Parse(text)
		if err != nil {
			return nil, err
		}
		cfg = cfg.Merge(more)
	}
	return cfg, nil
}

// Close closes the schedulers that were opened; apps go on. It may be called
// twice.
func (r *Runner) Close() (err error) {
	event := r.event("close")
	defer func() { event.end(context.Background(), err) }()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var errs []error
	for _, b := range r.backends {
		if s, ok := r.open[b.Name]; ok {
			errs = append(errs, s.Close())
		}
	}
	clear(r.open)
	return errors.Join(errs...)
}

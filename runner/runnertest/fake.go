package runnertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Fake is a scheduler that runs the replicas as processes of this one and
// remembers all in memory, until Close of the Fake that NewFake made. It has every
// power, but knows no times of log lines.
type Fake struct {
	*fakeState
}

type fakeState struct {
	dir     string   // for logs
	environ []string // of the replicas

	mu   sync.Mutex // guards what is below, and all that a fakeApp holds
	apps map[runner.Handle]*fakeApp
}

// FakeOptions are the options of a Fake.
type FakeOptions struct {
	Grace time.Duration `default:"30s" help:"from SIGTERM to SIGKILL"`
	Note  string        `help:"for people"`
}

// NewFake makes one that keeps its logs in dir and gives its replicas this
// environment.
func NewFake(dir string, environ []string) *Fake {
	return &Fake{&fakeState{dir: dir, environ: environ, apps: map[runner.Handle]*fakeApp{}}}
}

// FakeRequest is what a Fake is sent: the command lines of all replicas.
type FakeRequest struct {
	Commands [][]string `json:"commands"`
}

// Options are those of FakeOptions.
func (f *Fake) Options() *runner.OptionSet {
	set, err := runner.OptionsOf(FakeOptions{})
	if err != nil {
		panic(err) // the struct above is wrong
	}
	return set
}

// DefaultResource is none.
func (f *Fake) DefaultResource(*runner.Role) runner.Resource { return runner.Resource{} }

// Prepare writes down the commands.
func (f *Fake) Prepare(_ context.Context, plan *runner.Plan) error {
	var request FakeRequest
	for _, role := range plan.App.Roles {
		for range role.NumReplicas {
			request.Commands = append(request.Commands, append([]string{role.Entrypoint}, role.Args...))
		}
	}
	plan.Request = &request
	return nil
}

// Submit starts the app, unless it did.
func (f *Fake) Submit(_ context.Context, plan *runner.Plan) (runner.Submission, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, known := f.apps[plan.Handle]; known {
		if a.plan.Launch != plan.Launch {
			return runner.Submission{}, fmt.Errorf("%s is there already: %w", plan.Handle, store.ErrExist)
		}
		return a.submission(), nil
	}
	grace, _ := plan.Options["grace"].(time.Duration)
	copied := *plan
	copied.App = plan.App.Clone()
	ctx, stop := context.WithCancelCause(context.Background())
	a := &fakeApp{
		fake: f.fakeState, plan: &copied, number: len(f.apps) + 1, submitted: time.Now(), grace: grace,
		state: tracker.Pending, stop: stop, ended: make(chan struct{}),
	}
	for i := range copied.App.Roles {
		for id := range copied.App.Roles[i].NumReplicas {
			a.replicas = append(a.replicas, newFakeReplica(a, &copied.App.Roles[i], id))
		}
	}
	f.apps[plan.Handle] = a
	go a.run(ctx)
	return a.submission(), nil
}

func (f *Fake) find(h runner.Handle) (*fakeApp, error) {
	a, ok := f.apps[h]
	if !ok {
		return nil, fmt.Errorf("%s: %w", h, store.ErrNotExist)
	}
	return a, nil
}

// Status tells from memory.
func (f *Fake) Status(_ context.Context, h runner.Handle) (runner.AppStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(h)
	if err != nil {
		return runner.AppStatus{}, err
	}
	return a.status(), nil
}

// Wait waits for the goroutine that runs the app.
func (f *Fake) Wait(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	f.mu.Lock()
	a, err := f.find(h)
	f.mu.Unlock()
	if err != nil {
		return runner.AppStatus{}, err
	}
	select {
	case <-a.ended:
		return f.Status(ctx, h)
	case <-ctx.Done():
		return runner.AppStatus{}, context.Cause(ctx)
	}
}

// Cancel asks the replicas to end.
func (f *Fake) Cancel(_ context.Context, h runner.Handle, opts runner.CancelOptions) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(h)
	if err != nil {
		return err
	}
	if !a.state.Terminal() {
		a.cancelled = true
		a.stop(process.StopWithin(cmp.Or(opts.Grace, a.grace)))
	}
	return nil
}

// Delete cancels, waits and forgets.
func (f *Fake) Delete(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	if err := f.Cancel(ctx, h, opts); err != nil {
		return err
	}
	if _, err := f.Wait(ctx, h); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.apps, h)
	return nil
}

// Describe gives what was submitted.
func (f *Fake) Describe(_ context.Context, h runner.Handle) (runner.Description, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(h)
	if err != nil {
		return runner.Description{}, err
	}
	return runner.Description{
		Handle: h, App: a.plan.App.Clone(), Status: a.status(), Dir: a.plan.Dir, Options: a.plan.Options, LogDir: a.dir(),
	}, nil
}

// Close does nothing: see Shut.
func (f *Fake) Close() error { return nil }

// Shut ends all apps and waits for them.
func (f *Fake) Shut() error {
	f.mu.Lock()
	var handles []runner.Handle
	for h := range f.apps {
		handles = append(handles, h)
	}
	f.mu.Unlock()
	var errs []error
	for _, h := range handles {
		errs = append(errs, f.Delete(context.Background(), h, runner.CancelOptions{Grace: time.Millisecond}))
	}
	return errors.Join(errs...)
}

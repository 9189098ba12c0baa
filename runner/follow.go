package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Status says where an app stands. One that its scheduler does not know (any
// more) is an error of kind store.ErrNotExist.
func (r *Runner) Status(ctx context.Context, h Handle) (status AppStatus, err error) {
	event := r.eventOf("status", h)
	defer func() { event.end(ctx, err) }()
	_, status, err = r.status(ctx, h)
	return status, err
}

func (r *Runner) status(ctx context.Context, h Handle) (Scheduler, AppStatus, error) {
	s, err := r.Scheduler(ctx, h.Scheduler)
	if err != nil {
		return nil, AppStatus{}, err
	}
	status, err := s.Status(ctx, h)
	if errors.Is(err, store.ErrNotExist) {
		return nil, AppStatus{}, unknownApp(h)
	}
	return s, status, err
}

// WaitOptions change how an app is waited for; nil is all zero.
type WaitOptions struct {
	Every    time.Duration // between two questions, at most; 0 = 10 s, as in TorchX
	Patience time.Duration // with a scheduler that does not answer; 0 = 10 min
}

const firstWait = 50 * time.Millisecond // before the second question

// Wait returns when the app has ended, or what watched over it is gone (LOST). An
// app that is or becomes unknown is an error of kind store.ErrNotExist.
func (r *Runner) Wait(ctx context.Context, h Handle, opts *WaitOptions) (status AppStatus, err error) {
	event := r.eventOf("wait", h)
	defer func() { event.end(ctx, err) }()
	s, status, err := r.status(ctx, h)
	if err != nil || status.Settled() {
		return status, err
	}
	if w, ok := s.(Waiter); ok {
		status, err = w.Wait(ctx, h)
		if errors.Is(err, store.ErrNotExist) {
			err = unknownApp(h)
		}
		return status, err
	}
	if opts == nil {
		opts = &WaitOptions{}
	}
	return r.poll(ctx, h, status, *opts)
}

func (r *Runner) poll(ctx context.Context, h Handle, status AppStatus, opts WaitOptions) (AppStatus, error) {
	if opts.Every <= 0 {
		opts.Every = 10 * time.Second
	}
	if opts.Patience <= 0 {
		opts.Patience = 10 * time.Minute
	}
	pause, answered := min(firstWait, opts.Every), time.Now()
	for !status.Settled() {
		select {
		case <-ctx.Done():
			return status, context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(pause*2, opts.Every)
		_, now, err := r.status(ctx, h)
		switch {
		case err == nil:
			status, answered = now, time.Now()
		case !errors.Is(err, store.ErrUnavailable) || time.Since(answered) > opts.Patience:
			return status, err
		}
	}
	return status, nil
}

// Describe tells all that is known of an app: as it was planned, where the scheduler
// remembers that, else its status alone. An unknown one is an error of kind store.ErrNotExist.
func (r *Runner) Describe(ctx context.Context, h Handle) (d Description, err error) {
	event := r.eventOf("describe", h)
	defer func() { event.end(ctx, err) }()
	s, err := r.Scheduler(ctx, h.Scheduler)
	if err != nil {
		return Description{}, err
	}
	if describer, ok := s.(AppDescriber); ok {
		if d, err = describer.Describe(ctx, h); errors.Is(err, store.ErrNotExist) {
			err = unknownApp(h)
		}
		return d, err
	}
	_, status, err := r.status(ctx, h)
	if err != nil {
		return Description{}, err
	}
	d = Description{Handle: status.Handle, App: App{Name: h.App}, Status: status}
	for _, role := range status.Roles {
		d.App.Roles = append(d.App.Roles, Role{Name: role.Role, NumReplicas: len(role.Replicas)})
	}
	return d, nil
}

// List yields the apps of a scheduler, the youngest first. One that cannot list is an
// error of kind store.ErrUnsupported.
func (r *Runner) List(ctx context.Context, scheduler string, query ListQuery) iter.Seq2[ListEntry, error] {
	return func(yield func(ListEntry, error) bool) {
		event := r.event("list")
		event.scheduler = scheduler
		s, err := r.Scheduler(ctx, scheduler)
		if lister, ok := s.(Lister); ok {
			for entry, listErr := range lister.List(ctx, query) {
				if listErr != nil {
					err = listErr
					break
				}
				if !yield(entry, nil) {
					break
				}
			}
		} else if err == nil {
			err = fmt.Errorf("scheduler %s cannot list its apps: %w", scheduler, store.ErrUnsupported)
		}
		event.end(ctx, err)
		if err != nil {
			yield(ListEntry{}, err)
		}
	}
}

package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
)

// EndOptions change how an app is cancelled or deleted; nil is all zero.
type EndOptions struct {
	CancelOptions
	Force     bool // also what another session submitted
	MustExist bool // an unknown app is an error of kind store.ErrNotExist, not nothing to do
}

// Cancel asks an app to end, and does not wait until it has. For an app that has
// ended, or is not known, there is nothing to do. One that was submitted in another session
// is refused with kind store.ErrPermission.
func (r *Runner) Cancel(ctx context.Context, h Handle, opts *EndOptions) (err error) {
	event := r.eventOf("cancel", h)
	defer func() { event.end(ctx, err) }()
	s, status, opts, err := r.toEnd(ctx, "cancel", h, opts)
	if s == nil || status.State.Terminal() {
		return err
	}
	return opts.unlessGone(s.Cancel(ctx, status.Handle, opts.CancelOptions), h)
}

// Delete ends an app, if it has not ended, and has its scheduler forget it; what is
// recorded of the run stays. A scheduler without a memory of its own cancels. For an app
// that is not known there is nothing to do; one that was submitted in another session is
// refused with kind store.ErrPermission.
func (r *Runner) Delete(ctx context.Context, h Handle, opts *EndOptions) (err error) {
	event := r.eventOf("delete", h)
	defer func() { event.end(ctx, err) }()
	s, status, opts, err := r.toEnd(ctx, "delete", h, opts)
	if s == nil {
		return err
	}
	if d, ok := s.(Deleter); ok {
		return opts.unlessGone(d.Delete(ctx, status.Handle, opts.CancelOptions), h)
	}
	if status.State.Terminal() {
		return nil
	}
	return opts.unlessGone(s.Cancel(ctx, status.Handle, opts.CancelOptions), h)
}

// toEnd finds an app that is to be ended. The scheduler is nil when it may not be, or
// there is nothing to do.
func (r *Runner) toEnd(ctx context.Context, verb string, h Handle, opts *EndOptions) (Scheduler, AppStatus, *EndOptions, error) {
	if opts == nil {
		opts = &EndOptions{}
	}
	if _, err := r.Scheduler(ctx, h.Scheduler); err != nil {
		return nil, AppStatus{}, opts, err
	}
	s, status, err := r.status(ctx, h)
	if err != nil {
		return nil, status, opts, opts.unlessGone(err, h)
	}
	if status.Handle == (Handle{}) {
		status.Handle = h
	}
	if session := status.Handle.Session; session != r.session && !opts.Force {
		return nil, status, opts, &torchxError{fmt.Sprintf("%s %s: it was submitted in session %q, and this is session %q; force it, or use that session",
			verb, h, session, r.session), store.ErrPermission}
	}
	return s, status, opts, nil
}

// unlessGone drops the error that the app does not exist.
func (o *EndOptions) unlessGone(err error, h Handle) error {
	switch {
	case !errors.Is(err, store.ErrNotExist):
		return err
	case o.MustExist:
		return unknownApp(h)
	}
	return nil
}

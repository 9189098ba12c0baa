package main

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// launched is an app that a command is about.
type launched struct {
	runner *runner.Runner
	handle runner.Handle
}

// onJob does something with the app that text names, once it is clear that one of the formats is wanted.
func (a *app) onJob(ctx context.Context, text, session string, formats []render.Format, do func(l *launched, format render.Format) error) error {
	format, err := a.format(formats)
	if err != nil {
		return err
	}
	l, err := a.launched(ctx, text, session)
	if err != nil {
		return err
	}
	return do(l, format)
}

// launched finds the app that text names: a handle, or a unique part of the id of a run, or of an
// app that a scheduler of this machine knows. What there is not has kind store.ErrNotExist.
func (a *app) launched(ctx context.Context, text, session string) (*launched, error) {
	r, err := a.runnerOf(session)
	if err != nil {
		return nil, err
	}
	if h, err := runner.ParseHandle(text); err == nil {
		return &launched{runner: r, handle: h}, nil
	} else if strings.Contains(text, "://") {
		return nil, err
	}
	p, err := a.here(ctx)
	if err != nil {
		return nil, err
	}
	id, err := p.findRun(ctx, text)
	if errors.Is(err, store.ErrNotExist) {
		if h, ok := a.knownHere(ctx, r, text); ok {
			return &launched{runner: r, handle: h}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	h, err := runner.ParseHandle(string(id))
	return &launched{runner: r, handle: h}, err
}

// knownHere looks for the only app of the local scheduler whose handle text is a part of. It may be recorded in
// another store.
func (a *app) knownHere(ctx context.Context, r *runner.Runner, text string) (found runner.Handle, ok bool) {
	for entry, err := range r.List(ctx, schedulerLocal, runner.ListQuery{}) {
		if err != nil {
			return found, false
		}
		if strings.Contains(entry.Handle.String(), text) {
			if ok {
				return found, false
			}
			found, ok = entry.Handle, true
		}
	}
	return found, ok
}

// recorded is the run of a handle as its record has it, which the schedulers' memory does not outlive.
func (a *app) recorded(ctx context.Context, h runner.Handle) (*tracker.Run, error) {
	p, err := a.here(ctx)
	if err != nil {
		return nil, err
	}
	return p.tracker.Run(ctx, h.RunID())
}

// status asks the scheduler, and where it does not know the app, or is none of ours, the record of the run.
func (a *app) status(ctx context.Context, l *launched) (status runner.AppStatus, fromRecord bool, err error) {
	status, err = l.runner.Status(ctx, l.handle)
	if !errors.Is(err, store.ErrNotExist) {
		return status, false, err
	}
	run, recordErr := a.recorded(ctx, l.handle)
	if tracker.IsDeleted(recordErr) {
		return status, false, recordErr
	}
	if recordErr != nil {
		return status, false, err
	}
	return statusOf(l.handle, run), true, nil
}

// statusOf is the status of a run by its record.
func statusOf(h runner.Handle, run *tracker.Run) runner.AppStatus {
	status := runner.AppStatus{Handle: h, State: run.State, Started: run.Started, Ended: run.Ended, Message: "by its record; the scheduler does not know it"}
	for _, attempt := range run.Attempts {
		status.NumRestarts = attempt.Number - 1
		end := attempt.End
		if end == nil {
			continue
		}
		replica := runner.ReplicaStatus{Role: "main", State: end.State, Attempt: attempt.Number, ExitCode: end.ExitCode, Signal: end.Signal, Ended: end.Time, Hostname: attempt.Start.Host, Started: attempt.Start.Time}
		status.Roles = []runner.RoleStatus{{Role: "main", Replicas: []runner.ReplicaStatus{replica}}}
	}
	return status
}

package main

import (
	"context"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// settle records the end of a run that its scheduler tells of and no attempt does: it was cancelled or failed before it
// began, or between two attempts. Where the run is not recorded here, or its record says more, there is nothing to do.
// What succeeded did so in an attempt, which tells of it.
func (a *app) settle(ctx context.Context, h runner.Handle, status runner.AppStatus) {
	if !status.State.Terminal() || status.State == tracker.Succeeded {
		return
	}
	run, err := a.recorded(ctx, h)
	if err != nil || run.State != tracker.Submitted && run.State != tracker.Pending {
		return
	}
	p, err := a.here(ctx)
	if err == nil {
		err = runner.NewLauncher(p.store, p.tracker).Forsake(ctx, run.ID, endOf(status))
	}
	if err != nil {
		a.warn("record that %s is %s: %v", run.ID, status.State, err)
	}
}

// endOf is the end of an app as an attempt has it.
func endOf(status runner.AppStatus) tracker.AttemptEnd {
	end := tracker.AttemptEnd{Time: status.Ended, State: status.State}
	if first := status.FirstFailure(); first != nil {
		end.ExitCode, end.Signal = first.ExitCode, first.Signal
	}
	return end
}

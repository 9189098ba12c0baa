package local

import (
	"context"
	"fmt"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Cancel tells the supervisor to end the app and returns at once. To one whose
// supervisor is gone there is nothing to say.
func (s *Scheduler) Cancel(_ context.Context, h runner.Handle, opts runner.CancelOptions) error {
	l, err := s.newest(h)
	if err != nil {
		return err
	}
	if state, _, err := l.state(); err != nil || state.Terminal() || state == tracker.Lost {
		return err
	}
	_, err = l.tell(order{Cancel: true, Grace: opts.Grace})
	return err
}

// Delete ends the app if it runs, waits for that, and forgets it. Records, outputs and
// logs of the run stay; what it changed in the copy of its workspaces goes.
func (s *Scheduler) Delete(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	if err := s.Cancel(ctx, h, opts); err != nil {
		return err
	}
	l, err := s.newest(h)
	if err != nil {
		return err
	}
	if err := l.awaitGone(ctx); err != nil {
		return err
	}
	if err := workspace.Remove(s.appDir(h)); err != nil {
		return fmt.Errorf("delete state of local app: %w", err)
	}
	return nil
}

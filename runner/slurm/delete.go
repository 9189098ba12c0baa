package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
)

// Delete ends the app, if it has not ended, and removes its job directory and what is
// remembered of it. Slurm forgets the job by itself.
func (s *Scheduler) Delete(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	a, err := s.open(h)
	if err != nil {
		return err
	}
	if a.task != "" {
		return invalid("%s is a task of an array, which is deleted as a whole", h)
	}
	status, err := s.Status(ctx, h)
	if err != nil {
		return err
	}
	if !status.Settled() {
		if err := s.Cancel(ctx, h, opts); err != nil {
			return err
		}
		if _, err := s.Wait(ctx, h); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(string(a.base)); err != nil {
		return fmt.Errorf("remove job directory: %w", err)
	}
	_ = os.Remove(filepath.Dir(string(a.base))) // unless it holds another launch
	if err := os.RemoveAll(filepath.Dir(s.entryFile(h))); err != nil {
		return fmt.Errorf("forget app: %w", err)
	}
	return nil
}

// Wait returns when the app has settled.
func (s *Scheduler) Wait(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	tick := time.NewTicker(s.opts.Poll)
	defer tick.Stop()
	for {
		status, err := s.Status(ctx, h)
		if err != nil || status.Settled() {
			return status, err
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-tick.C:
		}
	}
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newBeat(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "beat [RUN]",
		Short: "say that a run begun by start is alive",
		Long: `Record that a run is alive now, of which "heirloom start --lost-after" said that it
would be told. Without RUN it is that of the environment.`,
		Example:           `  while kill -0 $PID; do heirloom beat; sleep 60; done`,
		Args:              atMostOneRun,
		ValidArgsFunction: a.completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := a.settings(c.Context(), nil)
			if err != nil {
				return err
			}
			p, err := a.open(c.Context(), settings)
			if err != nil {
				return err
			}
			run, err := a.openRun(c, settings, p, args)
			if err != nil {
				return err
			}
			return beat(c.Context(), p, run)
		},
	}
}

// beat gives a sign of life of the last attempt of a run.
func beat(ctx context.Context, p place, run tracker.RunID) error {
	attempts, err := p.tracker.Attempts(ctx, run)
	if err != nil {
		return err
	}
	if len(attempts) == 0 {
		return &store.Error{Op: "beat", Key: string(run), Kind: store.ErrNotExist}
	}
	last := attempts[len(attempts)-1]
	if last.End != nil {
		return fmt.Errorf("beat %s: it has ended as %s: %w", run, last.End.State, store.ErrConflict)
	}
	return p.tracker.Beat(ctx, run, last.Number)
}

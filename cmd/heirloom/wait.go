package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newWait(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "wait RUN",
		Short: "wait until a job has ended, and exit as it did",
		Long: `Wait until a job has ended. The exit code is the job's own: that of the first
replica that failed; 143 where the job was cancelled before any had one, 125 where
it is lost, 3 where nothing is known of it.`,
		Example:           "  heirloom wait train-x7f2 && heirloom run -- python evaluate.py",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			return a.onJob(c.Context(), args[0], "", documentFormats(), func(l *launched, format render.Format) error {
				status, err := a.wait(c.Context(), l)
				if err != nil {
					return err
				}
				a.settle(c.Context(), l.handle, status)
				if format != render.Table {
					if err := a.printJSON(status); err != nil {
						return err
					}
				}
				return a.ended(status)
			})
		},
	}
}

// wait follows an app to its end; one that its scheduler does not know, by the record of its run.
func (a *app) wait(ctx context.Context, l *launched) (runner.AppStatus, error) {
	const between = time.Second
	status, err := l.runner.Wait(ctx, l.handle, &runner.WaitOptions{Every: between})
	if !errors.Is(err, store.ErrNotExist) {
		return status, err
	}
	for {
		run, recordErr := a.recorded(ctx, l.handle)
		if recordErr != nil || run.State == tracker.Unknown {
			return status, err
		}
		if status = statusOf(l.handle, run); status.Settled() {
			return status, nil
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-time.After(between):
		}
	}
}

// ended tells how an app ended, and is its exit code as an error.
func (a *app) ended(status runner.AppStatus) error {
	a.note("heirloom: %s %s", status.Handle, status.State)
	if status.State == tracker.Succeeded {
		return nil
	}
	if err := status.Err(); err != nil {
		a.note("heirloom: %v", err)
	}
	return jobExit{code: status.ExitCode()}
}

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// endFlags are what cancel and delete are told.
type endFlags struct {
	grace   time.Duration
	force   bool
	session string
}

func (f *endFlags) register(c *cobra.Command) {
	flags := c.Flags()
	ageFlag(flags, &f.grace, "grace", "`TIME` from SIGTERM to SIGKILL (default: as the job was started with)")
	flags.BoolVar(&f.force, "force", false, "also a job of another session")
	flags.StringVar(&f.session, "session", "", "`NAME` of the session that the job was submitted in (default torchx)")
}

// options are those of the library; the command says where there was nothing to do.
func (f *endFlags) options() *runner.EndOptions {
	return &runner.EndOptions{CancelOptions: runner.CancelOptions{Grace: f.grace}, Force: f.force, MustExist: true}
}

func newCancel(a *app) *cobra.Command {
	var f endFlags
	var wait bool
	c := &cobra.Command{
		Use:   "cancel RUN",
		Short: "ask a job to end",
		Long: `Ask a job to end: SIGTERM to all of it, after the grace time SIGKILL, and no
further attempt. The command does not wait for that unless --wait is given. A job
that has ended is left alone; one that nobody knows is exit code 3. A job of
another session is refused without --force.`,
		Example:           "  heirloom cancel train-x7f2 --grace 2m\n  heirloom cancel train-x7f2 --wait",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			cancel := func(l *launched, _ runner.AppStatus, opts *runner.EndOptions) (runner.AppStatus, error) {
				if err := l.runner.Cancel(c.Context(), l.handle, opts); err != nil {
					return runner.AppStatus{}, err
				}
				if wait {
					return l.runner.Wait(c.Context(), l.handle, &runner.WaitOptions{Every: time.Second})
				}
				return l.runner.Status(c.Context(), l.handle)
			}
			return a.endJob(c, args[0], f, ending{do: cancel, told: toldCancelled})
		},
	}
	f.register(c)
	c.Flags().BoolVar(&wait, "wait", false, "wait until it has ended")
	return c
}

func newDelete(a *app) *cobra.Command {
	var f endFlags
	c := &cobra.Command{
		Use:   "delete RUN",
		Short: "end a job and have its scheduler forget it",
		Long: `End a job, if it has not ended, and have its scheduler forget it with its logs
there. What is recorded of the run, and its outputs, stay. A job that nobody knows
is exit code 3; one of another session is refused without --force.`,
		Example:           "  heirloom delete train-x7f2",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			remove := func(l *launched, before runner.AppStatus, opts *runner.EndOptions) (runner.AppStatus, error) {
				if !before.Settled() {
					before = runner.AppStatus{State: tracker.Cancelled}
				}
				return before, l.runner.Delete(c.Context(), l.handle, opts)
			}
			return a.endJob(c, args[0], f, ending{do: remove, told: toldDeleted})
		},
	}
	f.register(c)
	return c
}

func toldCancelled(h runner.Handle, before runner.AppStatus) string {
	if before.Settled() {
		return fmt.Sprintf("%s had ended: %s", h, before.State)
	}
	return fmt.Sprintf("%s is told to end; it was %s", h, before.State)
}

func toldDeleted(h runner.Handle, before runner.AppStatus) string {
	if before.Settled() {
		return fmt.Sprintf("%s had ended: %s; its scheduler has forgotten it, its record stays", h, before.State)
	}
	return fmt.Sprintf("%s was %s and is ended; its scheduler has forgotten it, its record stays", h, before.State)
}

// ending is what cancel and delete do: do ends a job and gives how it stands then; told says so, with how it stood before.
type ending struct {
	do   func(l *launched, before runner.AppStatus, opts *runner.EndOptions) (runner.AppStatus, error)
	told func(h runner.Handle, before runner.AppStatus) string
}

// endJob finds an app, does what is to be done to it, and says so.
func (a *app) endJob(c *cobra.Command, text string, f endFlags, e ending) error {
	opts := f.options()
	ctx := c.Context()
	return a.onJob(ctx, text, f.session, documentFormats(), func(l *launched, format render.Format) error {
		before, err := l.runner.Status(ctx, l.handle)
		if err != nil {
			return err
		}
		after, err := e.do(l, before, opts)
		if err != nil {
			return err
		}
		a.settle(ctx, l.handle, after)
		if format != render.Table {
			return a.printJSON(endedJob{Run: l.handle.String(), Before: string(before.State)})
		}
		a.note("%s", e.told(l.handle, before))
		return nil
	})
}

// endedJob is what cancel and delete print.
type endedJob struct {
	Run    string `json:"run"`
	Before string `json:"before"` // its state when it was asked to end
}

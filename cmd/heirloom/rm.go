package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

// removalFlags are what rm is asked for.
type removalFlags struct {
	undo, purge, history bool
	force, yes           bool
	reason               string
	grace                time.Duration
}

func newRm(a *app) *cobra.Command {
	var f removalFlags
	c := &cobra.Command{
		Use:   "rm RUN...",
		Short: "delete runs, with a way back",
		Long: `Say what it is to delete a run, its records and its output directory, and with --yes
delete it in two steps: first it is hidden and can be restored with --undo; once that was
longer ago than --grace, rm --purge --yes deletes it for good. Of those that name a run,
what heirloom shows is that it was deleted.

Refused are runs that are running, that an alias names, or in whose output an adopted
dataset lies; and unless --force is given those that other runs used, that staged a
dataset, or that neither ended nor gave a sign of life. If one of several is refused,
all stay. A run that was written to since it was hidden is not purged. Other files that
it recorded as artifacts are left where they are.

TorchX's own readers see a run until it is purged.`,
		Example: `  heirloom rm train-x7f2 --reason "wrong labels" --yes
  heirloom rm --undo train-x7f2
  heirloom rm --purge --yes
  heirloom rm --history`,
		ValidArgsFunction: a.completeRemoval(&f),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return err
			}
			return a.runRm(c.Context(), args, f)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.undo, "undo", false, "restore runs that were deleted and not purged")
	flags.BoolVar(&f.purge, "purge", false, "delete for good what was deleted longer than --grace ago, RUN alone or all")
	flags.BoolVar(&f.history, "history", false, "list what was deleted, why, and what became of it, of RUN alone or all")
	flags.BoolVar(&f.force, "force", false, "also what others used, what staged a dataset, and what may be alive")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do it; without it nothing is changed")
	flags.StringVar(&f.reason, "reason", "", "`TEXT` for the history")
	f.grace = removal.DefaultGrace
	ageFlag(flags, &f.grace, "grace", "`TIME` between --yes and --purge")
	return c
}

func (f *removalFlags) check(c *cobra.Command, args []string) error {
	modes := 0
	for _, mode := range []bool{f.undo, f.purge, f.history} {
		if mode {
			modes++
		}
	}
	command := c.CommandPath()
	switch {
	case modes > 1:
		return usagef(command, "--undo, --purge and --history contradict each other")
	case (modes == 0 || f.undo) && len(args) == 0:
		return usagef(command, "missing RUN")
	case (f.undo || f.history) && (f.force || f.yes):
		return usagef(command, "--force and --yes go with deleting, and with --purge")
	case modes > 0 && f.reason != "":
		return usagef(command, "--reason goes with deleting")
	}
	return nil
}

func (a *app) runRm(ctx context.Context, args []string, f removalFlags) error {
	format, p, err := a.formatHere(ctx, render.ListFormats)
	if err != nil {
		return err
	}
	do := a.hideRuns
	switch {
	case f.undo:
		do = a.restoreRuns
	case f.purge:
		do = a.purgeRuns
	case f.history:
		do = a.listRemovals
	}
	list, err := do(ctx, p, args, f)
	if err != nil {
		return err
	}
	rows := render.Removals(list)
	if !f.undo && !f.history {
		rows.AddDryRun(!f.yes)
	}
	return a.printList(rows, format)
}

// removals is the ledger of a place.
func (p place) removals() *removal.Ledger { return removal.NewLedger(p.store, p.tracker, nil) }

// hideRuns is the first step for all runs, or for none.
func (a *app) hideRuns(ctx context.Context, p place, args []string, f removalFlags) ([]render.Removal, error) {
	runs, err := p.findRuns(ctx, args)
	if err != nil {
		return nil, err
	}
	obstacles, err := p.obstacles(ctx, runs)
	if err != nil {
		return nil, err
	}
	if err := obstacles.refuse(f.force); err != nil {
		return nil, err
	}
	var list []render.Removal
	for _, run := range runs {
		line, err := a.hide(ctx, p.removals(), run, f)
		if err != nil {
			return nil, err
		}
		list = append(list, line)
	}
	if f.yes {
		a.note("deleted %s; heirloom rm --undo restores them, heirloom rm --purge deletes them for good after %s", count(len(list), "run"), short(f.grace))
	} else {
		a.note("would delete %s; --yes deletes", count(len(list), "run"))
	}
	return list, nil
}

// hide takes the first step for one run, or says what it would be.
func (a *app) hide(ctx context.Context, ledger *removal.Ledger, run tracker.RunID, f removalFlags) (render.Removal, error) {
	why := removal.Why{User: runner.UserName(a.environ), Reason: f.reason}
	if f.yes {
		e, err := ledger.Delete(ctx, run, why)
		return removalOf(e, f.grace), err
	}
	size, err := ledger.Measure(ctx, run)
	return render.Removal{
		Run: run, Step: render.StepHidden, Objects: size.Records + size.Output, Bytes: size.Bytes, By: why.User, Reason: why.Reason,
	}, err
}

// findRuns resolves texts to runs, each once, in their order.
func (p place) findRuns(ctx context.Context, texts []string) ([]tracker.RunID, error) {
	var runs []tracker.RunID
	seen := map[tracker.RunID]bool{}
	for _, text := range texts {
		run, err := p.findRun(ctx, text)
		if err != nil {
			return nil, err
		}
		if !seen[run] {
			runs = append(runs, run)
		}
		seen[run] = true
	}
	return runs, nil
}

// removalOf shows a deletion as it stands.
func removalOf(e removal.Entry, grace time.Duration) render.Removal {
	line := render.Removal{
		Run: e.Run, Number: e.Number, Step: render.StepHidden, Objects: e.Records + e.Output, Bytes: e.Bytes,
		Deleted: e.Time, By: e.User, Reason: e.Reason, Decided: e.Decided, Decider: e.By,
	}
	switch e.Outcome {
	case removal.Restored:
		line.Step = render.StepRestored
	case removal.Purged:
		line.Step = render.StepPurged
	default:
		line.Until = e.Time.Add(grace)
	}
	if e.Outcome != removal.Pending && !e.Done {
		line.Why = "begun and not ended"
	}
	return line
}

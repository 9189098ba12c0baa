package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

// purgeRuns is the second step for the runs that were named, or for all. Of all, one that cannot go does not stop the others.
func (a *app) purgeRuns(ctx context.Context, p place, args []string, f removalFlags) ([]render.Removal, error) {
	ledger := p.removals()
	entries, err := ledger.Open(ctx)
	if err != nil {
		return nil, err
	}
	if entries, err = chosen(entries, args); err != nil {
		return nil, err
	}
	now := time.Now()
	if f.yes && len(entries) > 0 { // by the clock that dates the objects
		if now, err = dataset.StoreTime(ctx, p.store); err != nil {
			return nil, err
		}
	}
	obstacles, err := p.obstacles(ctx, runsOf(entries))
	if err != nil {
		return nil, err
	}
	var list []render.Removal
	purged := 0
	for _, e := range entries {
		line := removalOf(e, f.grace)
		line.Step, line.Why = render.StepPurged, ""
		var err error
		if why := waits(e, obstacles, f, now); why != "" {
			err = notYet(e.Run, why)
		} else {
			err = a.purge(ctx, p, ledger, &line, f)
		}
		switch {
		case err == nil:
			purged++
			line.Until = time.Time{}
		case errors.Is(err, store.ErrConflict) && len(args) == 0:
			line.Step, line.Why = render.StepKept, err.Error()
		default:
			return nil, err
		}
		list = append(list, line)
	}
	a.notePurged(purged, f)
	return list, nil
}

func (a *app) notePurged(n int, f removalFlags) {
	switch {
	case n == 0:
		a.note("nothing is to be purged")
	case f.yes:
		a.note("purged %s", count(n, "run"))
	default:
		a.note("would purge %s; --yes purges", count(n, "run"))
	}
}

// waits says why a run cannot be purged yet, "" if it can. What was begun is ended in any case.
func waits(e removal.Entry, obstacles obstacles, f removalFlags, now time.Time) string {
	switch why := obstacles.on(e.Run, f.force); {
	case e.Outcome == removal.Purged:
		return ""
	case e.Outcome == removal.Restored:
		return "it is being restored"
	case now.Sub(e.Noted) < f.grace:
		return "it can be restored until " + e.Noted.Add(f.grace).UTC().Format(time.RFC3339)
	default:
		return why
	}
}

func notYet(run tracker.RunID, why string) error {
	return &kindError{text: fmt.Sprintf("%s is not purged: %s", run.Name(), why), kind: store.ErrConflict}
}

// purge deletes one run for good, unless nothing is to be changed.
func (a *app) purge(ctx context.Context, p place, ledger *removal.Ledger, line *render.Removal, f removalFlags) error {
	if !f.yes {
		return nil
	}
	first, err := p.markers(ctx, line.Run)
	if err != nil {
		return err
	}
	gone, err := ledger.Purge(ctx, line.Run, removal.PurgeOptions{User: runner.UserName(a.environ), First: first})
	if err != nil {
		return err
	}
	line.Decided, line.Decider = gone.Decided, gone.By
	if gone.Left > 0 {
		line.Why = fmt.Sprintf("%s written meanwhile, and stay", count(gone.Left, "object"))
		a.warn("%s of %s were written while it was purged, and stay", count(gone.Left, "object"), line.Run.Name())
	}
	return nil
}

// markers are the files of a run's output that go first: what tells that a sync was complete, and that checkpoints are whole.
func (p place) markers(ctx context.Context, run tracker.RunID) ([]store.Key, error) {
	first := []store.Key{p.store.Layout().RunDir(string(run)).Join(".heirloom", "manifest.json")}
	list, err := p.runCheckpoints(ctx, run)
	for _, s := range list {
		first = append(first, s.Markers()...)
	}
	return first, err
}

// restoreRuns undoes the first step.
func (a *app) restoreRuns(ctx context.Context, p place, args []string, f removalFlags) ([]render.Removal, error) {
	ledger := p.removals()
	entries, err := ledger.Open(ctx)
	if err != nil {
		return nil, err
	}
	var list []render.Removal
	for _, text := range args {
		run, err := p.deletedRun(ctx, entries, text)
		if err != nil {
			return nil, err
		}
		e, err := ledger.Undo(ctx, run, runner.UserName(a.environ))
		if err != nil {
			return nil, err
		}
		list = append(list, removalOf(e, f.grace))
	}
	a.note("restored %s", count(len(list), "run"))
	return list, nil
}

// deletedRun finds a run among the deletions, or else among all, of which the ledger tells what became.
func (p place) deletedRun(ctx context.Context, entries []removal.Entry, text string) (tracker.RunID, error) {
	run, err := tracker.Match(runsOf(entries), text)
	if !errors.Is(err, store.ErrNotExist) {
		return run, err
	}
	if run, findErr := p.findRun(ctx, text); findErr == nil {
		return run, nil
	}
	return "", &advised{err: err, advice: "heirloom rm --history lists what was deleted"}
}

// listRemovals is the history, of the runs that were named or of all.
func (a *app) listRemovals(ctx context.Context, p place, args []string, f removalFlags) ([]render.Removal, error) {
	entries, err := p.removals().History(ctx)
	if err != nil {
		return nil, err
	}
	if entries, err = chosen(entries, args); err != nil {
		return nil, err
	}
	var list []render.Removal
	for _, e := range entries {
		list = append(list, removalOf(e, f.grace))
	}
	if len(list) == 0 {
		a.note("no run was deleted in %s", p.trackerURL())
	}
	return list, nil
}

// chosen keeps the deletions of the runs that texts name; all, if there are none.
func chosen(entries []removal.Entry, texts []string) ([]removal.Entry, error) {
	if len(texts) == 0 {
		return entries, nil
	}
	wanted := map[tracker.RunID]bool{}
	for _, text := range texts {
		run, err := tracker.Match(runsOf(entries), text)
		if errors.Is(err, store.ErrNotExist) {
			err = &advised{err: err, advice: "heirloom rm --history lists what was deleted"}
		}
		if err != nil {
			return nil, err
		}
		wanted[run] = true
	}
	return slices.DeleteFunc(entries, func(e removal.Entry) bool { return !wanted[e.Run] }), nil
}

// runsOf are the runs of deletions, each once.
func runsOf(entries []removal.Entry) []tracker.RunID {
	runs := make([]tracker.RunID, len(entries))
	for i, e := range entries {
		runs[i] = e.Run
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// completeRemoval completes runs, or with --undo and the like those that were deleted. It is silent about errors.
func (a *app) completeRemoval(f *removalFlags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if !f.undo && !f.purge && !f.history {
			return a.completeRun(c, args, typed)
		}
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		p, err := a.here(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list := p.removals().Open
		if f.history {
			list = p.removals().History
		}
		entries, err := list(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return beginning(runsOf(entries), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

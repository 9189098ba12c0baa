package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/tracker"
)

// datasetPruneFlags are what dataset prune is asked for.
type datasetPruneFlags struct {
	policy dataset.Policy
	grace  time.Duration
	yes    bool
}

func newDatasetPrune(a *app) *cobra.Command {
	var f datasetPruneFlags
	c := &cobra.Command{
		Use:   "prune",
		Short: "delete datasets that nothing needs, and what failed producers left",
		Long: `Say which datasets the rules let go, and with --yes let them go in two steps: the first
time a dataset is marked and stays usable, and once the mark is older than --grace the
next call deletes it, unless it was used meanwhile. What a producer left that died is
deleted when it gave no sign of life for as long, and at least for as long as its lease
lasts; that needs no rule.

Never deleted are datasets that a live run is on record to have used, those with a
name unless --named is given, and files that were adopted: of those only our records
go. Names stay, so that they never come to mean something else. Use outside of runs is
not on record.`,
		Example: `  heirloom dataset prune
  heirloom dataset prune --older-than 30d --unused --yes
  heirloom dataset prune --max-bytes 500000000000 --named`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.policy.MaxBytes < 0 {
				return usagef(c.CommandPath(), "--max-bytes is %d, want 0 or more", f.policy.MaxBytes)
			}
			return a.datasetPrune(c, f)
		},
	}
	flags := c.Flags()
	ageFlag(flags, &f.policy.OlderThan, "older-than", "let go what was neither made nor used for that `TIME`")
	flags.Int64Var(&f.policy.MaxBytes, "max-bytes", 0, "let the oldest go until all others take no more than `N` bytes")
	flags.BoolVar(&f.policy.Unused, "unused", false, "let go what no run is on record to have used")
	flags.BoolVar(&f.policy.Named, "named", false, "the rules hold also for what has a name")
	f.grace = dataset.DefaultGrace
	ageFlag(flags, &f.grace, "grace", "`TIME` between mark and deletion, and from the last sign of life of a producer")
	flags.BoolVarP(&f.yes, "yes", "y", false, "mark and delete; without it nothing is changed")
	return c
}

func (a *app) datasetPrune(c *cobra.Command, f datasetPruneFlags) error {
	format, p, err := a.formatHere(c.Context(), render.ListFormats)
	if err != nil {
		return err
	}
	now := time.Now()
	if f.yes { // by the clock that dates the objects
		if now, err = dataset.StoreTime(c.Context(), p.store); err != nil {
			return err
		}
	}
	list, err := a.pruneDatasets(c.Context(), p, f, now)
	if err != nil {
		return err
	}
	left, err := a.pruneAbandoned(c.Context(), p, f, now)
	if err != nil {
		return err
	}
	list = append(list, left...)
	if !f.yes {
		a.note("nothing was changed; --yes marks and deletes")
	}
	return render.PrunedDatasets(list, !f.yes).Write(a.stdout, format, a.style(a.stdout))
}

// pruneDatasets decides about each dataset and takes the next step.
func (a *app) pruneDatasets(ctx context.Context, p place, f datasetPruneFlags, now time.Time) ([]render.PrunedDataset, error) {
	items, err := dataset.Inventory(ctx, p.store)
	if err != nil {
		return nil, err
	}
	use, err := p.datasetUse(ctx)
	if err != nil {
		return nil, err
	}
	live := &liveness{place: p, states: map[tracker.RunID]tracker.State{}}
	candidates := make([]dataset.Candidate, len(items))
	for i, item := range items {
		runs := use.of(p.store, item)
		held, err := live.among(ctx, runs)
		if err != nil {
			return nil, err
		}
		candidates[i] = dataset.Candidate{Item: item, Held: held, Used: len(runs) > 0, Last: use.last(p.store, item)}
	}
	var list []render.PrunedDataset
	for i, d := range f.policy.Decide(candidates, now) {
		names, _ := listed(items[i], nil)
		line := render.PrunedDataset{Dataset: p.rendered(items[i], names, use), Why: d.Why}
		if line.Step, err = a.pruneStep(ctx, p, items[i], d, f, now); err != nil {
			return nil, err
		}
		list = append(list, line)
	}
	return list, nil
}

// pruneStep takes the next step towards what was decided, or only names it.
func (a *app) pruneStep(ctx context.Context, p place, item dataset.Item, d dataset.Decision, f datasetPruneFlags, now time.Time) (render.Step, error) {
	marked := !item.Marked.IsZero()
	switch {
	case d.Keep && marked && f.yes:
		return render.StepKept, item.Unmark(ctx, p.store)
	case d.Keep:
		return render.StepKept, nil
	case marked && now.Sub(item.Marked) >= f.grace:
		if f.yes {
			if _, err := item.Delete(ctx, p.store); err != nil {
				return "", fmt.Errorf("%w; what was begun, the next prune ends", err)
			}
		}
		return render.StepDeleted, nil
	case f.yes:
		return render.StepMarked, item.Mark(ctx, p.store)
	}
	return render.StepMarked, nil
}

// pruneAbandoned deletes what producers left that died.
func (a *app) pruneAbandoned(ctx context.Context, p place, f datasetPruneFlags, now time.Time) ([]render.PrunedDataset, error) {
	found, err := dataset.FindAbandoned(ctx, p.store, now, f.grace)
	if err != nil {
		return nil, err
	}
	var list []render.PrunedDataset
	for _, left := range found {
		line := render.PrunedDataset{Step: render.StepDeleted, Why: fmt.Sprintf("abandoned by %s:%d", left.Claim.Host, left.Claim.PID)}
		line.Fingerprint, line.Bytes, line.Created = string(left.Claim.Fingerprint), left.Bytes, left.Claim.Time
		line.Path = p.store.KeyURL(p.store.Layout().TrainData(left.Claim.Index))
		if f.yes {
			if line.Bytes, err = left.Reclaim(ctx, p.store); err != nil {
				return nil, err
			}
		}
		list = append(list, line)
	}
	return list, nil
}

// liveness knows which runs are alive.
type liveness struct {
	place  place
	states map[tracker.RunID]tracker.State
}

// among names a run that is alive, "" if none is.
func (l *liveness) among(ctx context.Context, runs []tracker.RunID) (string, error) {
	h := &holds{place: l.place, states: l.states}
	for _, run := range runs {
		state, err := h.state(ctx, run)
		if err != nil {
			return "", err
		}
		if isAlive(state) {
			return run.Name() + " is alive and uses it", nil
		}
	}
	return "", nil
}

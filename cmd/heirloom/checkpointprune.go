package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/tracker"
)

// pruneFlags are what prune is asked for.
type pruneFlags struct {
	policy     checkpoint.Policy
	best       string
	metric     metric
	all, yes   bool
	pin, unpin []string
}

func newCheckpointPrune(a *app) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "prune RUN...|--all",
		Short: "delete checkpoints that no rule keeps",
		Long: `Say which checkpoints the rules keep, and with --yes delete the others. A checkpoint
stays if any rule keeps it. Kept always are the newest that is whole, those that are
pinned, those that another run is recorded to have used, all of a run while one that
is alive descends from it by a link that names none, and, unless --incomplete is
given, what is not whole. The rules hold for each run by itself.

The files by which a checkpoint is known to be whole go first; what a prune that was
killed began, the next one ends. The records of the runs stay.`,
		Example: `  heirloom checkpoint prune train-x7f2 --keep-last 3 --best val.loss
  heirloom checkpoint prune --all --keep-last 1 --keep-every 10000 --yes
  heirloom checkpoint prune train-x7f2 --pin 1000`,
		ValidArgsFunction: a.completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return err
			}
			return a.checkpointPrune(c, args, f)
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.policy.Last, "keep-last", 0, "keep those of the `N` highest steps")
	flags.Int64Var(&f.policy.Every, "keep-every", 0, "keep those whose step is a multiple of `M`")
	flags.StringVar(&f.best, "best", "", "keep the best by `METRIC`, METRIC:min or METRIC:max")
	flags.IntVar(&f.policy.Best, "keep-best", 1, "with --best, keep the `N` best")
	flags.StringSliceVar(&f.pin, "pin", nil, "keep this `STEP` or path of RUN until --unpin")
	flags.StringSliceVar(&f.unpin, "unpin", nil, "end the pin of this `STEP` or path of RUN")
	flags.BoolVar(&f.policy.Incomplete, "incomplete", false, "delete also what is not whole and older than the newest that is, of runs that ended")
	flags.BoolVar(&f.all, "all", false, "every run")
	flags.BoolVarP(&f.yes, "yes", "y", false, "delete; without it nothing is deleted")
	return c
}

func (f *pruneFlags) rules() bool {
	return f.policy.Last > 0 || f.policy.Every > 0 || f.best != "" || f.policy.Incomplete
}

func (f *pruneFlags) pins() bool { return len(f.pin)+len(f.unpin) > 0 }

func (f *pruneFlags) check(c *cobra.Command, args []string) (err error) {
	switch command := c.CommandPath(); {
	case f.all == (len(args) > 0):
		return usagef(command, "say which runs: RUN or --all")
	case f.policy.Last < 0 || f.policy.Every < 0 || f.policy.Best < 1:
		return usagef(command, "--keep-last and --keep-every want 0 or more, --keep-best 1 or more")
	case c.Flag("keep-best").Changed && f.best == "":
		return usagef(command, "--keep-best wants --best METRIC")
	case f.pins() && len(args) != 1:
		return usagef(command, "--pin and --unpin want one RUN")
	case !f.rules() && !f.pins():
		return usagef(command, "say what to keep: --keep-last, --keep-every or --best")
	}
	if f.best == "" {
		f.policy.Best = 0
	}
	f.metric, err = parseMetric(c.CommandPath(), f.best)
	f.policy.Max = f.metric.max
	return err
}

func (a *app) checkpointPrune(c *cobra.Command, args []string, f pruneFlags) error {
	format, found, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	p := found.place
	if err := a.resumeDeletions(c.Context(), p, f.yes); err != nil {
		return err
	}
	runs, err := a.pruned(c.Context(), p, args)
	if err != nil {
		return err
	}
	if f.pins() {
		if err := a.setPins(c.Context(), p, runs, f); err != nil || !f.rules() {
			return err
		}
	}
	list, doomed, err := a.decide(c.Context(), p, runs, f)
	if err != nil {
		return err
	}
	if f.yes {
		if err := a.deleteAll(c.Context(), p, doomed); err != nil {
			return err
		}
	}
	a.notePruned(doomed, f)
	return a.printList(render.Prune(list, !f.yes), format)
}

// resumeDeletions ends what an earlier prune began, or tells of it.
func (a *app) resumeDeletions(ctx context.Context, p place, yes bool) error {
	list := p.notes().Begun
	if yes {
		list = p.notes().Resume
	}
	paths, err := list(ctx)
	for _, path := range paths {
		if yes {
			a.note("ended the deletion of %s that was begun before", path)
		} else {
			a.note("the deletion of %s was begun; --yes ends it", path)
		}
	}
	return err
}

// runCheckpoints are the checkpoints of one run.
type runCheckpoints struct {
	run  tracker.RunID
	list []saved
}

// pruned finds the checkpoints of the runs named, or of every run.
func (a *app) pruned(ctx context.Context, p place, args []string) ([]runCheckpoints, error) {
	if len(args) == 0 {
		return a.everyRun(ctx, p)
	}
	var runs []runCheckpoints
	for _, text := range args {
		run, err := p.visibleRun(ctx, text)
		if err != nil {
			return nil, err
		}
		list, err := p.runCheckpoints(ctx, run)
		if err != nil {
			return nil, err
		}
		runs = append(runs, runCheckpoints{run, list})
	}
	return runs, nil
}

func (a *app) everyRun(ctx context.Context, p place) ([]runCheckpoints, error) {
	all, err := a.allCheckpoints(ctx, p)
	if err != nil {
		return nil, err
	}
	var runs []runCheckpoints
	for _, s := range all { // sorted by run
		switch last := len(runs) - 1; {
		case s.run == "":
			a.note("%s belongs to no run on record and was left alone", s.path)
		case last >= 0 && runs[last].run == s.run:
			runs[last].list = append(runs[last].list, s)
		default:
			runs = append(runs, runCheckpoints{s.run, []saved{s}})
		}
	}
	return runs, nil
}

// setPins pins and unpins checkpoints of the one run.
func (a *app) setPins(ctx context.Context, p place, runs []runCheckpoints, f pruneFlags) error {
	for _, change := range []struct {
		texts []string
		verb  string
		do    func(context.Context, store.Key) error
	}{{f.pin, "pinned", p.notes().Pin}, {f.unpin, "unpinned", p.notes().Unpin}} {
		for _, text := range change.texts {
			ch := choice{step: checkpoint.NoStep, path: text}
			if step, err := strconv.ParseInt(text, 10, 64); err == nil && step >= 0 {
				ch = choice{step: step}
			}
			s, err := a.pick(ctx, p, runs[0].list, ch, runs[0].run.Name()+"@"+text)
			if err != nil {
				return err
			}
			if err := change.do(ctx, s.Path); err != nil {
				return err
			}
			a.note("%s %s", change.verb, s.name())
		}
	}
	return nil
}

// decide applies the policy to each run.
func (a *app) decide(ctx context.Context, p place, runs []runCheckpoints, f pruneFlags) (list []render.Pruned, doomed []saved, err error) {
	pinned, err := p.notes().Pinned(ctx)
	if err != nil {
		return nil, nil, err
	}
	holds, err := p.holds(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range runs {
		values := make([]float64, len(r.list))
		if f.metric.name != "" {
			if values, err = a.values(ctx, p, r.list, f.metric); err != nil {
				return nil, nil, err
			}
		}
		candidates := make([]checkpoint.Candidate, len(r.list))
		for i, s := range r.list {
			held, err := holds.on(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			candidates[i] = checkpoint.Candidate{Checkpoint: s.Checkpoint, Value: values[i], Pinned: pinned[s.Path], Held: held}
		}
		for i, d := range f.policy.Decide(candidates) {
			line := render.Pruned{Checkpoint: r.list[i].rendered(candidates[i].Pinned), Keep: d.Keep, Why: d.Why}
			if f.metric.name != "" && !math.IsNaN(values[i]) {
				line.Value = &values[i]
			}
			list = append(list, line)
			if !d.Keep {
				doomed = append(doomed, r.list[i])
			}
		}
	}
	return list, doomed, nil
}

func (a *app) deleteAll(ctx context.Context, p place, doomed []saved) error {
	for _, s := range doomed {
		if err := p.notes().Delete(ctx, s.Checkpoint); err != nil {
			return fmt.Errorf("%w; what was begun, the next prune ends", err)
		}
	}
	return nil
}

func (a *app) notePruned(doomed []saved, f pruneFlags) {
	bytes := int64(0)
	for _, s := range doomed {
		bytes += s.Size
	}
	switch {
	case len(doomed) == 0:
		a.note("every checkpoint is kept")
	case f.yes:
		a.note("deleted %s, %s", count(len(doomed), "checkpoint"), render.Size(bytes))
	default:
		a.note("would delete %s, %s; --yes deletes", count(len(doomed), "checkpoint"), render.Size(bytes))
	}
}

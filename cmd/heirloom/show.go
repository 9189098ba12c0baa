package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newShow(a *app) *cobra.Command {
	metrics := false
	c := &cobra.Command{
		Use:   "show NODE",
		Short: "show one run, artifact or input",
		Long: `Show one node: a run (its id or any unique part of it) with its metadata, artifacts,
sources, children and attempts; an artifact, RUN#ARTIFACT; or an input, as
name@version, URI or file, with the runs that used it.

With --metrics, the series of a run are drawn, from what the job appended to
$HEIRLOOM_METRICS or recorded itself, and from Lightning's metrics.csv; -o json
and -o csv have every point.`,
		Example: `  heirloom show train-x7f2
  heirloom show train-x7f2 -o json
  heirloom show train-x7f2 --metrics
  heirloom show train-x7f2#model
  heirloom show clicks@2026-11-20`,
		Args:              takes("NODE"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(c *cobra.Command, args []string) error { return a.runShow(c, args[0], metrics) },
	}
	c.Flags().BoolVar(&metrics, "metrics", false, "show the series of the run's metrics instead")
	return c
}

func (a *app) runShow(c *cobra.Command, text string, metrics bool) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if metrics {
		return a.showMetrics(c, text, format)
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	if text, err = p.expand(c.Context(), text); err != nil {
		return err
	}
	run, aliases, err := a.shownRun(c.Context(), c, p, text)
	if err == nil {
		return render.Show(a.stdout, run, render.NewRunAliases(aliases).Names(run.ID), format, a.style(a.stdout))
	}
	if !errors.Is(err, store.ErrNotExist) || tracker.IsDeleted(err) {
		return err
	}
	return a.showOther(c, p, text, format)
}

// shownRun reads a run with all its children, and aliases. An index serves to find it by a part of its id, and to know the children
// that the run's own directory lacks, which are those that TorchX wrote early; where there is none, the root is listed.
func (a *app) shownRun(ctx context.Context, c *cobra.Command, p place, text string) (*tracker.Run, []alias.Alias, error) {
	x := a.knownIndex(ctx, c, p)
	if x == nil {
		run, err := p.listedRun(ctx, text)
		if err != nil {
			return nil, nil, err
		}
		aliases, err := p.aliases().List(ctx)
		return run, aliases, err
	}
	defer x.Close()
	id, err := a.knownRun(ctx, p, x, text)
	if err != nil {
		return nil, nil, err
	}
	run, err := p.tracker.Run(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if run.Children, err = p.children(ctx, x, run); err != nil {
		return nil, nil, err
	}
	aliases, err := x.Aliases(ctx)
	return run, aliases, err
}

// children joins what an index and a run's own directory know of its children. Those that the directory alone knows are
// younger than the index, or were deleted.
func (p place) children(ctx context.Context, x *index.Index, run *tracker.Run) ([]tracker.RunID, error) {
	known, err := x.Run(ctx, run.ID)
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return nil, err
	}
	var children []tracker.RunID
	if err == nil {
		children = known.Children
	}
	for _, child := range run.Children {
		if slices.Contains(children, child) {
			continue
		}
		_, err := p.tracker.Survey(ctx, child)
		if err != nil && !errors.Is(err, store.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			children = append(children, child)
		}
	}
	slices.Sort(children)
	return children, nil
}

// knownRun is the run that text names. That there is none is said only after the store was asked.
func (a *app) knownRun(ctx context.Context, p place, x *index.Index, text string) (tracker.RunID, error) {
	r, err := a.resolver(p, x)
	if err != nil {
		return "", err
	}
	id, err := r.Resolve(ctx, text)
	if errors.Is(err, store.ErrNotExist) {
		return p.tracker.Find(ctx, text)
	}
	if err != nil {
		return "", err
	}
	return tracker.ParseRunID(id)
}

// listedRun is shownRun without an index.
func (p place) listedRun(ctx context.Context, text string) (*tracker.Run, error) {
	id, err := p.tracker.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	run, err := p.tracker.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	run.Children = nil
	for child, err := range p.tracker.RunIDs(ctx, id) {
		if err != nil {
			return nil, err
		}
		run.Children = append(run.Children, child)
	}
	return run, nil
}

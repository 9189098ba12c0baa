package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
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
	run, err := p.shownRun(c.Context(), text)
	if err == nil {
		return render.Show(a.stdout, run, format, a.style(a.stdout))
	}
	if !errors.Is(err, store.ErrNotExist) {
		return err
	}
	return a.showOther(c.Context(), p, text, format)
}

// shownRun reads a run with all its children: the run's own directory lacks those that TorchX wrote early.
func (p place) shownRun(ctx context.Context, text string) (*tracker.Run, error) {
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

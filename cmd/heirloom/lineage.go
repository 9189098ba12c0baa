package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
)

const lineageHelp = `Ask where something came from (--up), what came of it (--down), or both.

NODE is a run (its id or any unique part of it), an artifact RUN#ARTIFACT, or an
input: name@version, a URI, or a file. An edge points from the source to the run
that used it, and carries the name of the artifact that was used.`

func newLineage(a *app) *cobra.Command {
	var q lineage.Query
	var both bool
	c := &cobra.Command{
		Use:   "lineage NODE",
		Short: "where it came from, what came of it",
		Long:  lineageHelp,
		Example: `  heirloom lineage evaluate-x7f2 --up
  heirloom lineage train-k2#model --down --depth 2
  heirloom lineage clicks@2026-11-20 -o json
  heirloom lineage evaluate-x7f2 -o dot | dot -Tsvg > lineage.svg`,
		Args:              takes("NODE"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			if both {
				q.Up, q.Down = true, true
			}
			return a.runLineage(c, args[0], q)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&q.Up, "up", false, "only what it came from")
	flags.BoolVar(&q.Down, "down", false, "only what came of it")
	flags.BoolVar(&both, "both", false, "both ways (the default)")
	flags.IntVar(&q.Depth, "depth", 0, "at most `N` steps away; 0 = all")
	flags.StringVar(&q.Artifact, "artifact", "", "follow only uses of artifacts of the name `NAME`")
	return c
}

func (a *app) runLineage(c *cobra.Command, text string, q lineage.Query) error {
	format, err := a.format(render.LineageFormats)
	if err != nil {
		return err
	}
	if q.Depth < 0 {
		return usagef(c.CommandPath(), "--depth is %d, want 0 or more", q.Depth)
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	graph, id, err := a.node(c.Context(), p, text)
	if err != nil {
		return err
	}
	sub, err := p.closure(c.Context(), graph, id, q)
	if err != nil {
		return err
	}
	for _, w := range sub.Warnings {
		a.warn("%s", w)
	}
	return render.Lineage(a.stdout, sub, format, a.style(a.stdout))
}

// node loads the graph and finds the node that text names in it.
func (a *app) node(ctx context.Context, p place, text string) (*lineage.Graph, string, error) {
	dir, err := a.workdir()
	if err != nil {
		return nil, "", err
	}
	graph, err := lineage.Load(ctx, p.tracker)
	if err != nil {
		return nil, "", err
	}
	id, err := graph.ResolveIn(text, dir)
	if err != nil {
		return nil, "", &advised{err: err, advice: p.whereToLook(graph)}
	}
	return graph, id, nil
}

// closure answers the query with the records of its runs.
func (p place) closure(ctx context.Context, graph *lineage.Graph, id string, q lineage.Query) (*lineage.Subgraph, error) {
	sub, err := graph.Closure(id, q)
	if err != nil {
		return nil, err
	}
	return sub, sub.Attach(ctx, p.tracker)
}

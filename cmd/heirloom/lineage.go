package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const lineageHelp = `Ask where something came from (--up), what came of it (--down), or both.

NODE is a run (its id or any unique part of it), an artifact RUN#ARTIFACT, or an
input: name@version, a URI, or a file; or @alias; or bytes, by eight digits or more of
their SHA-256. An edge points from the source to the run that used it, and carries the
name of the artifact that was used. A dataset leads up to the run that staged it.`

func newLineage(a *app) *cobra.Command {
	var asked lineageAsked
	var form lineageForm
	both := false
	c := &cobra.Command{
		Use:   "lineage NODE",
		Short: "where it came from, what came of it",
		Long:  lineageHelp,
		Example: `  heirloom lineage evaluate-x7f2 --up
  heirloom lineage train-k2#model --down --depth 2
  heirloom lineage clicks@2026-11-20 --to @prod
  heirloom lineage @prod --roots
  heirloom lineage evaluate-x7f2 -o svg > lineage.svg
  heirloom lineage evaluate-x7f2 -o csv --nodes`,
		Args:              takes("NODE"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			if both {
				asked.query.Up, asked.query.Down = true, true
			}
			return a.runLineage(c, args[0], asked, form)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&asked.query.Up, "up", false, "only what it came from")
	flags.BoolVar(&asked.query.Down, "down", false, "only what came of it")
	flags.BoolVar(&both, "both", false, "both ways (the default)")
	flags.IntVar(&asked.query.Depth, "depth", 0, "at most `N` steps away; 0 = all")
	flags.StringVar(&asked.query.Artifact, "artifact", "", "follow only uses of artifacts of the name `NAME`")
	flags.BoolVar(&form.all, "all", false, "draw each node in the tree, also many that are alike")
	flags.BoolVar(&form.nodes, "nodes", false, "with -o csv or jsonl, list the nodes, not the edges")
	asked.register(c, a)
	asked.fresh.register(c)
	return c
}

// lineageForm is how a lineage is printed.
type lineageForm struct {
	all   bool // no node of a tree shares a row
	nodes bool // a list is of nodes, not of edges
}

func (f lineageForm) check(c *cobra.Command, format render.Format) error {
	switch {
	case f.nodes && format != render.CSV && format != render.JSONL:
		return usagef(c.CommandPath(), "--nodes goes with -o csv or jsonl")
	case f.all && format != render.Tree:
		return usagef(c.CommandPath(), "--all is for the tree, %s has all nodes", format)
	}
	return nil
}

func (a *app) runLineage(c *cobra.Command, text string, asked lineageAsked, form lineageForm) error {
	format, err := a.format(asked.formats())
	if err != nil {
		return err
	}
	if err := asked.check(c); err != nil {
		return err
	}
	if err := form.check(c, format); err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	asked.briefly = format != render.PROV && format != render.OpenLineage
	var answer lineageAnswer
	err = a.ask(c.Context(), c, p, asked.fresh, func(x *index.Index) error {
		if answer, err = a.lineageOf(c.Context(), p, x, text, asked); err == nil {
			answer.complete, err = a.completeness(c.Context(), x)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range answer.sub.Warnings {
		a.warn("%s", w)
	}
	style := a.style(a.stdout)
	options := a.eventOptions(c.Context(), p, "")
	style.All, style.Nodes, style.OpenLineage, style.Completeness = form.all, form.nodes, &options, answer.complete
	if err := a.printLineage(answer, asked, format, style); err != nil {
		return err
	}
	a.noteCompleteness(answer.complete)
	return nil
}

// made says which run staged the dataset of that name, if one did: up to three requests.
func (p place) made(ctx context.Context, text string) (made lineage.Made, ok bool, err error) {
	ref, err := dataset.ParseRef(text)
	if err != nil {
		return made, false, nil // it is no name of ours
	}
	label, maker, err := dataset.FindMaker(ctx, p.store, ref)
	if maker == nil || err != nil {
		if errors.Is(err, store.ErrNotExist) {
			err = nil
		}
		return made, false, err
	}
	input, err := tracker.NewInput(tracker.Source{Name: label.Name, Version: label.DatasetVersion, Digest: string(label.Fingerprint)}, "")
	return lineage.Made{Run: maker.Run, Artifact: maker.Artifact, Input: input}, err == nil, err
}

// closure answers the query with the records of its runs. Of datasets the store knows which run staged them.
func (p place) closure(ctx context.Context, graph *lineage.Graph, id string, q lineage.Query) (*lineage.Subgraph, error) {
	asked := map[string]bool{}
	for {
		sub, err := graph.Closure(id, q)
		if err != nil {
			return nil, err
		}
		found, err := p.makers(ctx, sub, asked)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return sub, sub.Attach(ctx, p.tracker)
		}
		graph = graph.WithMade(found)
	}
}

// makers finds who staged the datasets of an answer that leads up, where nothing tells it yet. It asks once for each.
func (p place) makers(ctx context.Context, sub *lineage.Subgraph, asked map[string]bool) (found []lineage.Made, err error) {
	if !sub.Query.Up {
		return nil, nil
	}
	for _, node := range sub.Unmade() {
		if asked[node.ID] {
			continue
		}
		asked[node.ID] = true
		made, ok, err := p.made(ctx, node.Label())
		if err != nil {
			return nil, err
		}
		if ok && string(made.Input.ID) == node.ID {
			found = append(found, made)
		}
	}
	return found, nil
}

package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
)

// lineageAsked is what lineage was asked for.
type lineageAsked struct {
	query         lineage.Query
	fresh         freshness
	to            string // the ways to this node are wanted
	every         bool
	ways          int
	roots, leaves bool
	briefly       bool // no more of runs is wanted than pictures and lists show
}

func (l *lineageAsked) register(c *cobra.Command, a *app) {
	flags := c.Flags()
	flags.StringVar(&l.to, "to", "", "the shortest ways from NODE to this `NODE`, whichever of them descends from the other")
	flags.BoolVar(&l.every, "every", false, "with --to: every way that meets no node twice")
	flags.IntVar(&l.ways, "ways", lineage.DefaultPaths, "with --to: list at most `N` ways")
	flags.BoolVar(&l.roots, "roots", false, "only what it came from in the beginning: ancestors that have none themselves")
	flags.BoolVar(&l.leaves, "leaves", false, "only what came of it in the end: descendants that nothing used")
	register(c, "to", a.completeRun)
}

// formats are those that the answer has.
func (l *lineageAsked) formats() []render.Format {
	if l.roots || l.leaves {
		return render.ListFormats
	}
	return render.LineageFormats
}

// check refuses flags that contradict each other.
func (l *lineageAsked) check(c *cobra.Command) error {
	switch {
	case l.query.Depth < 0:
		return usagef(c.CommandPath(), "--depth is %d, want 0 or more", l.query.Depth)
	case l.ways < 1:
		return usagef(c.CommandPath(), "--ways is %d, want 1 or more", l.ways)
	case l.to == "" && (l.every || c.Flags().Changed("ways")):
		return usagef(c.CommandPath(), "--every and --ways belong to --to")
	case l.to != "" && (l.query.Up || l.query.Down || l.roots || l.leaves):
		return usagef(c.CommandPath(), "--to goes with neither --up, --down nor --both, --roots, --leaves")
	case (l.roots || l.leaves) && (l.query.Up || l.query.Down):
		return usagef(c.CommandPath(), "--roots lie up and --leaves down: neither goes with --up, --down or --both")
	}
	return nil
}

// paths finds the ways between two nodes. Where no way leads down from the first to the second, it looks for those up.
func (a *app) paths(ctx context.Context, p place, x *index.Index, text string, l lineageAsked) (*lineage.Paths, error) {
	from, err := a.resolve(ctx, p, x, text, l.fresh)
	if err != nil {
		return nil, err
	}
	to, err := a.resolve(ctx, p, x, l.to, l.fresh)
	if err != nil {
		return nil, err
	}
	q := lineage.PathQuery{Every: l.every, Limit: l.ways, Depth: l.query.Depth, Artifact: l.query.Artifact}
	for _, ends := range [][2]named{{from, to}, {to, from}} {
		found, err := p.pathsDown(ctx, x, ends[0], ends[1], q)
		if err != nil || found != nil {
			return found, err
		}
	}
	return lineage.NoPaths(from.id, to.id), nil
}

// pathsDown finds the ways down from one node to another, nil if there is none.
func (p place) pathsDown(ctx context.Context, x *index.Index, from, to named, q lineage.PathQuery) (*lineage.Paths, error) {
	graph, _, err := p.around(ctx, x, to, lineage.Query{Up: true})
	if err != nil {
		return nil, err
	}
	if digest, ok := lineage.ParseContentID(from.id); ok {
		names, err := x.Contents(ctx, digest)
		if err != nil {
			return nil, err
		}
		graph = graph.WithContent(digest, names)
	}
	found, err := graph.Paths(from.id, to.id, q)
	if errors.Is(err, store.ErrNotExist) || err == nil && len(found.Ways) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found, p.attach(ctx, x, found.Sub, false)
}

// ends finds the roots of what a node came from, and the leaves of what came of it.
func (a *app) ends(ctx context.Context, p place, x *index.Index, text string, l lineageAsked) (*lineage.Subgraph, map[string]int, error) {
	node, err := a.resolve(ctx, p, x, text, l.fresh)
	if err != nil {
		return nil, nil, err
	}
	l.query.Up, l.query.Down = l.roots, l.leaves
	_, sub, err := p.around(ctx, x, node, l.query)
	if err != nil {
		return nil, nil, err
	}
	var ids []string
	steps := map[string]int{}
	for _, way := range []struct {
		asked, up bool
	}{{l.roots, true}, {l.leaves, false}} {
		if !way.asked {
			continue
		}
		side := sub.Side(way.up)
		end := side.Leaves()
		if way.up {
			end = side.Roots()
		}
		for id, n := range side.Steps(way.up) {
			steps[id] = n
		}
		ids = append(ids, end...)
	}
	slices.Sort(ids)
	some := sub.Only(slices.Compact(ids))
	return some, steps, p.attach(ctx, x, some, true)
}

// lineageAnswer is what lineage prints.
type lineageAnswer struct {
	sub      *lineage.Subgraph
	paths    *lineage.Paths // if the ways to another node were wanted
	steps    map[string]int // if only ends were: how far each is
	complete *render.Completeness
}

// lineageOf answers what lineage was asked for.
func (a *app) lineageOf(ctx context.Context, p place, x *index.Index, text string, l lineageAsked) (answer lineageAnswer, err error) {
	switch {
	case l.to != "":
		answer.paths, err = a.paths(ctx, p, x, text, l)
		if err == nil {
			answer.sub = answer.paths.Sub
		}
	case l.roots || l.leaves:
		answer.sub, answer.steps, err = a.ends(ctx, p, x, text, l)
	default:
		answer.sub, err = a.relations(ctx, p, x, text, l.query, l.fresh, l.briefly)
	}
	return answer, err
}

func (a *app) printLineage(answer lineageAnswer, l lineageAsked, format render.Format, style render.Style) error {
	switch found := answer.paths; {
	case found != nil && len(found.Ways) == 0:
		a.note("no way leads from %s to %s, or back", found.From, found.To)
		return render.Paths(a.stdout, found, format, style)
	case found != nil:
		a.note("%s", render.WaysNote(found, l.every))
		return render.Paths(a.stdout, found, format, style)
	case answer.steps == nil:
		return render.Lineage(a.stdout, answer.sub, format, style)
	case len(answer.sub.Nodes) == 0:
		a.note("there is no end: all of them descend from one another, in a cycle")
	}
	list := render.Ends(answer.sub, answer.steps)
	list.AddCompleteness(answer.complete)
	return a.printList(list, format)
}

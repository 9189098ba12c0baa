package main

import (
	"context"
	"errors"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// relations answers a query about a node from an index, with the records of its runs. A node that the index does not
// know may be new: the root is looked at once before it is said not to be there.
func (a *app) relations(ctx context.Context, p place, x *index.Index, text string, q lineage.Query, f freshness) (*lineage.Subgraph, error) {
	id, made, err := a.named(ctx, p, x, text)
	for _, look := range []func(context.Context) (index.Refreshed, error){x.CatchUp, x.Refresh} {
		if !errors.Is(err, store.ErrNotExist) || f.never || f.now {
			break
		}
		if _, err := look(ctx); err != nil {
			return nil, err
		}
		id, made, err = a.named(ctx, p, x, text)
	}
	if err != nil {
		return nil, err
	}
	return p.closureFrom(ctx, x, id, made, q)
}

// named finds the node that text names, and who made it if that is known of it alone.
func (a *app) named(ctx context.Context, p place, x *index.Index, text string) (string, []lineage.Made, error) {
	if known, err := x.Has(ctx, text); known || err != nil {
		return text, nil, err
	}
	dir, err := a.workdir()
	if err != nil {
		return "", nil, err
	}
	graph, err := x.Graph(ctx)
	if err != nil {
		return "", nil, err
	}
	id, err := graph.ResolveIn(text, dir)
	if errors.Is(err, store.ErrNotExist) { // a dataset that no run has used
		made, ok, lookupErr := p.made(ctx, text)
		if ok || lookupErr != nil {
			return string(made.Input.ID), []lineage.Made{made}, lookupErr
		}
	}
	if err != nil {
		return "", nil, &advised{err: err, advice: p.whereToLook(graph)}
	}
	return id, nil, nil
}

// closureFrom is closure with an index in place of a graph of everything.
func (p place) closureFrom(ctx context.Context, x *index.Index, id string, made []lineage.Made, q lineage.Query) (*lineage.Subgraph, error) {
	asked := map[string]bool{}
	for {
		graph, err := p.around(ctx, x, id, made, q)
		if err != nil {
			return nil, err
		}
		sub, err := graph.Closure(id, q)
		if err != nil {
			return nil, err
		}
		found, err := p.makers(ctx, sub, asked)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			err := sub.Attach(ctx, x)
			sub.Warnings = append(sub.Warnings, unread(sub)...)
			return sub, err
		}
		made = append(made, found...)
	}
}

// around is the part of the graph in which the answer to a query lies.
func (p place) around(ctx context.Context, x *index.Index, id string, made []lineage.Made, q lineage.Query) (*lineage.Graph, error) {
	roots := []string{id}
	for i := range id {
		if id[i] == '#' { // of an artifact what its owner is linked to
			roots = append(roots, id[:i])
		}
	}
	for _, m := range made {
		roots = append(roots, string(m.Run))
	}
	graph, err := x.NearAll(ctx, roots, q)
	if errors.Is(err, store.ErrNotExist) && made != nil {
		graph, err = lineage.New(nil, nil), nil
	}
	if err != nil || made == nil {
		return graph, err
	}
	return graph.WithMade(made), nil
}

// unread lists what could not be read of the runs in an answer.
func unread(sub *lineage.Subgraph) (list []tracker.Warning) {
	for _, node := range sub.Nodes {
		if node.Kind == lineage.KindRun && node.Run != nil {
			list = append(list, node.Run.Warnings...)
		}
	}
	return list
}

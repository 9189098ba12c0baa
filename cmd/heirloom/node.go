package main

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// named is a node that a text names.
type named struct {
	id   string
	made []lineage.Made // who made it or what it came from, if no link tells it
	uses []lineage.Edge // uses near it that no link tells

	known map[lineage.Edge]bool // uses, to look them up
}

// resolver understands what people call nodes of a place.
func (a *app) resolver(p place, names lineage.Names) (*lineage.Resolver, error) {
	dir, err := a.workdir()
	return &lineage.Resolver{Names: names, Alias: p.alias, Workdir: dir}, err
}

// resolve finds the node that text names in an index. One that it does not know may be new: what changed is looked for,
// and in the end the whole root listed, before it is said not to be there.
func (a *app) resolve(ctx context.Context, p place, x *index.Index, text string, f freshness) (named, error) {
	r, err := a.resolver(p, x)
	if err != nil {
		return named{}, err
	}
	id, err := r.Resolve(ctx, text)
	for _, look := range []func(context.Context) (index.Refreshed, error){x.CatchUp, x.Refresh} {
		if !errors.Is(err, store.ErrNotExist) || f.never || f.now || strings.HasPrefix(text, "@") {
			break // of an alias the store itself was asked
		}
		if _, err := look(ctx); err != nil {
			return named{}, err
		}
		id, err = r.Resolve(ctx, text)
	}
	if errors.Is(err, store.ErrNotExist) { // a dataset that no run has used
		made, ok, lookupErr := p.made(ctx, text)
		if ok || lookupErr != nil {
			return named{id: string(made.Input.ID), made: []lineage.Made{made}}, lookupErr
		}
	}
	var own *advised
	if errors.Is(err, store.ErrNotExist) && !errors.As(err, &own) {
		err = p.orDeleted(ctx, text, &advised{err: err, advice: p.lookElsewhere(ctx, x)})
	}
	return named{id: id}, err
}

// lookElsewhere is the advice for a name that fits nothing.
func (p place) lookElsewhere(ctx context.Context, x *index.Index) string {
	if _, known, err := x.Similar(ctx, ""); err == nil && !known {
		return "it is " + store.RedactURL(p.trackerURL()) + ", --store names another"
	}
	return "heirloom runs lists the runs"
}

// resolveRun is resolve for a command about runs: of an artifact, the run that made it.
func (a *app) resolveRun(ctx context.Context, p place, x *index.Index, text string, f freshness) (tracker.RunID, error) {
	node, err := a.resolve(ctx, p, x, text, f)
	if err != nil {
		return "", err
	}
	for id := node.id; id != ""; id = beforeHash(id) {
		switch _, err := x.Run(ctx, tracker.RunID(id)); {
		case err == nil:
			return tracker.RunID(id), nil
		case !errors.Is(err, store.ErrNotExist):
			return "", err
		}
	}
	return "", &advised{err: &kindError{text: node.id + " is no run of which there are records", kind: store.ErrNotExist}, advice: "heirloom show " + text + " tells what it is"}
}

// beforeHash is what stands before the last "#", "" if there is none.
func beforeHash(id string) string { return id[:max(0, strings.LastIndexByte(id, '#'))] }

// relations answers a query about a node from an index, with the records of its runs, or with what is shown of them in
// pictures and lists.
func (a *app) relations(ctx context.Context, p place, x *index.Index, text string, q lineage.Query, f freshness, briefly bool) (*lineage.Subgraph, error) {
	node, err := a.resolve(ctx, p, x, text, f)
	if err != nil {
		return nil, err
	}
	_, sub, err := p.around(ctx, x, node, q)
	if err != nil {
		return nil, err
	}
	return sub, p.attach(ctx, x, sub, briefly)
}

// closureFrom is the answer to a query, with records.
func (p place) closureFrom(ctx context.Context, x *index.Index, node named, q lineage.Query) (*lineage.Subgraph, error) {
	_, sub, err := p.around(ctx, x, node, q)
	if err != nil {
		return nil, err
	}
	return sub, p.attach(ctx, x, sub, false)
}

// attach reads the records of the runs in an answer, or in brief, what they are called, and which of those that lack were
// deleted.
func (p place) attach(ctx context.Context, x *index.Index, sub *lineage.Subgraph, briefly bool) (err error) {
	if briefly {
		err = sub.Attach(ctx, index.Brief{Index: x})
	} else {
		err = sub.Attach(ctx, x)
	}
	if err != nil {
		return err
	}
	sub.Warnings = append(sub.Warnings, unread(sub)...)
	return p.annotate(ctx, x, sub.Nodes)
}

// around is the answer to a query, and the graph in which it lies. Of datasets the store knows which run staged them, and
// where bytes were used under another name than that of the artifact their digests tell.
func (p place) around(ctx context.Context, x *index.Index, node named, q lineage.Query) (*lineage.Graph, *lineage.Subgraph, error) {
	asked := map[string]bool{}
	for {
		graph, err := p.near(ctx, x, node, q)
		if err != nil {
			return nil, nil, err
		}
		sub, err := graph.Closure(node.id, q)
		if err != nil {
			return nil, nil, err
		}
		found, err := p.makers(ctx, sub, asked)
		if err != nil {
			return nil, nil, err
		}
		more, err := node.learn(ctx, x, sub)
		if err != nil || len(found) == 0 && !more {
			return graph, sub, err
		}
		node.made = append(node.made, found...)
	}
}

// learn finds the uses of the same bytes by or of the runs in an answer. more tells whether some were not known.
func (n *named) learn(ctx context.Context, x *index.Index, sub *lineage.Subgraph) (more bool, err error) {
	var runs []string
	for _, node := range sub.Nodes {
		if node.Kind == lineage.KindRun {
			runs = append(runs, node.ID)
		}
	}
	for _, way := range []struct{ asked, up bool }{{sub.Query.Up, true}, {sub.Query.Down, false}} {
		if !way.asked {
			continue
		}
		uses, err := x.SameBytes(ctx, runs, way.up)
		if err != nil {
			return false, err
		}
		for _, e := range uses {
			if n.known == nil {
				n.known = map[lineage.Edge]bool{}
			}
			if !n.known[e] {
				n.known[e], more = true, true
				n.uses = append(n.uses, e)
			}
		}
	}
	return more, nil
}

// near is the part of the graph that can be reached from a node.
func (p place) near(ctx context.Context, x *index.Index, node named, q lineage.Query) (*lineage.Graph, error) {
	roots := []string{node.id}
	for id := beforeHash(node.id); id != ""; id = beforeHash(id) { // of an artifact what its owner is linked to
		roots = append(roots, id)
	}
	for _, m := range node.made {
		roots = append(roots, string(m.Run))
	}
	for _, e := range node.uses {
		roots = append(roots, e.From, e.To)
	}
	digest, isContent := lineage.ParseContentID(node.id)
	var names []lineage.Content
	if isContent {
		var err error
		if names, err = x.Contents(ctx, digest); err != nil {
			return nil, err
		}
		for _, c := range names {
			roots = append(roots, string(c.Run))
			for _, user := range c.UsedBy {
				roots = append(roots, string(user))
			}
		}
	}
	graph, err := x.NearAll(ctx, roots, q)
	if errors.Is(err, store.ErrNotExist) && node.made != nil {
		graph, err = lineage.New(nil, nil), nil
	}
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		graph = graph.WithContent(digest, names)
	}
	if node.uses != nil {
		graph = graph.WithUses(node.uses)
	}
	if node.made != nil {
		graph = graph.WithMade(node.made)
	}
	return graph, nil
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

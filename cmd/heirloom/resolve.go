package main

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// findRun is the run that text names: its id, any part that no other run has, or @ALIAS. An unknown one is
// store.ErrNotExist and names what is near; several are store.ErrConflict and list them.
func (p place) findRun(ctx context.Context, text string) (tracker.RunID, error) {
	if text == "" {
		_, err := tracker.ParseRunID(text)
		return "", err
	}
	if strings.HasPrefix(text, "@") {
		return p.aliasedRun(ctx, text)
	}
	id, err := p.tracker.Find(ctx, text)
	if !errors.Is(err, store.ErrNotExist) {
		return id, err
	}
	graph, loadErr := lineage.Load(ctx, p.tracker)
	if loadErr != nil {
		return "", err
	}
	if _, near := graph.Resolve(text); errors.Is(near, store.ErrNotExist) {
		err = near
	}
	return "", p.orDeleted(ctx, text, &advised{err: err, advice: p.whereToLook(graph)})
}

// aliasedRun is the run that @NAME means. One that means an artifact is none: store.ErrInvalid.
func (p place) aliasedRun(ctx context.Context, text string) (tracker.RunID, error) {
	meant, err := p.meaning(ctx, text[1:])
	if err == nil && meant.Artifact != "" {
		err = invalidf("%s means an artifact, %s, and a run is wanted", text, meant.Node)
	}
	return meant.Run(), err
}

// whereToLook is the advice for a name that fits nothing: the list of runs, or the place where there are none.
func (p place) whereToLook(graph *lineage.Graph) string {
	if graph.Len() == 0 {
		return "it is " + store.RedactURL(p.trackerURL()) + ", --store names another"
	}
	return "heirloom runs lists the runs"
}

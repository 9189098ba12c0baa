package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// obstacle is what keeps a run from being deleted.
type obstacle struct {
	run    tracker.RunID
	why    string // "eval-x used it"
	advice string
	soft   bool // --force overcomes it
}

// obstacles are in the order of the runs they were asked for.
type obstacles []obstacle

const forceAdvice = "--force deletes it all the same"

// refuse is the error for those that stand in the way, nil if none does.
func (list obstacles) refuse(force bool) error {
	list = slices.DeleteFunc(slices.Clone(list), func(o obstacle) bool { return force && o.soft })
	if len(list) == 0 {
		return nil
	}
	var texts, advice []string
	for _, o := range list {
		texts = append(texts, fmt.Sprintf("%s is not deleted: %s", o.run.Name(), o.why))
		if !slices.Contains(advice, o.advice) {
			advice = append(advice, o.advice)
		}
	}
	err := &kindError{text: strings.Join(texts, "; "), kind: store.ErrConflict}
	return &advised{err: err, advice: strings.Join(advice, "; ")}
}

// on is what stands in the way of one run, "" if nothing does.
func (list obstacles) on(run tracker.RunID, force bool) string {
	for _, o := range list {
		if o.run == run && (!force || !o.soft) {
			return o.why
		}
	}
	return ""
}

// obstacles finds what keeps runs from being deleted together: a listing of the tracker with its links, of aliases and
// of datasets, and the records of each run.
func (p place) obstacles(ctx context.Context, runs []tracker.RunID) (obstacles, error) {
	aliases, err := p.aliases().List(ctx)
	if err != nil {
		return nil, err
	}
	h, err := p.holds(ctx)
	if err != nil {
		return nil, err
	}
	datasets, err := dataset.Inventory(ctx, p.store)
	if err != nil {
		return nil, err
	}
	var list obstacles
	for _, run := range runs {
		alive, err := p.aliveObstacle(ctx, run)
		if err != nil {
			return nil, err
		}
		list = append(list, alive...)
		for _, a := range aliases {
			if a.Run() == run {
				list = append(list, obstacle{run: run, why: "@" + a.Name + " names it", advice: "heirloom alias rm " + a.Name + " takes the name away"})
			}
		}
		if users := p.users(h, run, runs); len(users) > 0 {
			list = append(list, obstacle{run: run, why: some(users) + " used it", advice: forceAdvice, soft: true})
		}
		list = append(list, p.datasetObstacles(datasets, run)...)
	}
	return list, nil
}

// aliveObstacle is that a run may still be at work.
func (p place) aliveObstacle(ctx context.Context, id tracker.RunID) (obstacles, error) {
	run, err := p.tracker.Run(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotExist): // hidden already, or gone: the ledger knows
		return nil, nil
	case err != nil:
		return nil, err
	case run.State == tracker.Running:
		return obstacles{{run: id, why: "it is running", advice: "heirloom cancel ends a run"}}, nil
	case isAlive(run.State):
		return obstacles{{run: id, why: fmt.Sprintf("it is %s and may still be at work", run.State), advice: forceAdvice, soft: true}}, nil
	}
	return nil, nil
}

// users are the names of the runs outside of a set that used a run or what lies in its output directory, sorted.
func (p place) users(h *holds, run tracker.RunID, besides []tracker.RunID) []string {
	users := map[string]bool{}
	add := func(user tracker.RunID) {
		if !slices.Contains(besides, user) {
			users[user.Name()] = true
		}
	}
	for _, e := range h.users[run] {
		add(e.To)
	}
	for uri, user := range h.uses {
		if p.inOutput(run, uri) {
			add(user)
		}
	}
	return slices.Sorted(maps.Keys(users))
}

// inOutput says whether a canonical URI lies in the output directory of a run.
func (p place) inOutput(run tracker.RunID, uri string) bool {
	dir, err := store.CanonicalURI(p.store.KeyURL(p.store.Layout().RunDir(string(run))), "")
	return err == nil && (uri == dir || strings.HasPrefix(uri, dir+"/"))
}

// datasetObstacles are datasets that the run staged, or that lie in its output directory.
func (p place) datasetObstacles(items []dataset.Item, run tracker.RunID) (list obstacles) {
	for _, item := range items {
		name := fmt.Sprintf("dataset %.12s", item.Commit.Fingerprint)
		if len(item.Names) > 0 {
			name = "dataset " + item.Names[0].String()
		}
		if maker := item.Commit.Maker; maker != nil && maker.Run == run {
			list = append(list, obstacle{run: run, why: "it staged " + name, advice: forceAdvice, soft: true})
		}
		for _, split := range item.Commit.Splits {
			uri, err := store.CanonicalURI(split.Location(p.store), "")
			if err == nil && p.inOutput(run, uri) {
				list = append(list, obstacle{run: run, why: name + " lies in its output", advice: "heirloom dataset prune --named lets go of it"})
				break
			}
		}
	}
	return list
}

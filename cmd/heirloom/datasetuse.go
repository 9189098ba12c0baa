package main

import (
	"maps"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// datasetUse knows which runs are on record to have used what.
type datasetUse struct {
	byName   map[string][]tracker.Edge // NAME@VERSION
	byDigest map[string][]tracker.Edge // the fingerprint
	byURI    map[string][]tracker.Edge // of a directory
	byRun    map[tracker.RunID][]tracker.Edge
}

func newDatasetUse(edges []tracker.Edge) *datasetUse {
	u := &datasetUse{
		byName: map[string][]tracker.Edge{}, byDigest: map[string][]tracker.Edge{},
		byURI: map[string][]tracker.Edge{}, byRun: map[tracker.RunID][]tracker.Edge{},
	}
	for _, e := range edges {
		if e.Source.Role != tracker.RoleInput {
			u.byRun[e.From] = append(u.byRun[e.From], e)
			continue
		}
		if e.Source.Name != "" {
			u.byName[e.Source.Name+"@"+e.Source.Version] = append(u.byName[e.Source.Name+"@"+e.Source.Version], e)
		}
		if e.Source.Digest != "" {
			u.byDigest[e.Source.Digest] = append(u.byDigest[e.Source.Digest], e)
		}
		if uri, err := store.CanonicalURI(e.Source.URI, ""); err == nil && e.Source.URI != "" {
			u.byURI[uri] = append(u.byURI[uri], e)
		}
	}
	return u
}

// edges are the links by which runs used the dataset: its names, its fingerprint, the addresses of its splits, the
// run that made it. A link to that run which names something else is of another thing that it made.
func (u *datasetUse) edges(s *store.Store, item dataset.Item) []tracker.Edge {
	list := slices.Clone(u.byDigest[string(item.Commit.Fingerprint)])
	for _, ref := range item.Names {
		list = append(list, u.byName[ref.String()]...)
	}
	for _, split := range item.Commit.Splits {
		if uri, err := store.CanonicalURI(split.Location(s), ""); err == nil {
			list = append(list, u.byURI[uri]...)
		}
	}
	if made := item.Commit.Maker; made != nil {
		for _, e := range u.byRun[made.Run] {
			_, isSplit := item.Commit.Splits[dataset.Name(e.Source.Artifact)]
			if e.Source.Artifact == "" || e.Source.Artifact == made.Artifact || isSplit {
				list = append(list, e)
			}
		}
	}
	return list
}

// of lists the runs that used the dataset, sorted.
func (u *datasetUse) of(s *store.Store, item dataset.Item) []tracker.RunID {
	runs := map[tracker.RunID]bool{}
	for _, e := range u.edges(s, item) {
		runs[e.To] = true
	}
	return slices.Sorted(maps.Keys(runs))
}

// last is when a run last began to use the dataset, as far as it is known; zero is never.
func (u *datasetUse) last(s *store.Store, item dataset.Item) (last time.Time) {
	for _, e := range u.edges(s, item) {
		if e.Source.Time.After(last) {
			last = e.Source.Time
		}
	}
	return last
}

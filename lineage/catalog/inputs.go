package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// inputs gathers what is known of sources that the root does not record as runs.
type inputs struct {
	known map[description]*use
	order []description // as they came
	edges []tracker.Edge
}

// description is all that a link tells of an input.
type description struct{ id, name, version, digest, uri string }

// use is who used an input under one description.
type use struct {
	roles       map[tracker.Role]bool
	last        tracker.RunID // that was counted
	runs        int64
	first, late time.Time
}

func newInputs() *inputs { return &inputs{known: map[description]*use{}} }

// add notes that a run used s. Runs come one after the other.
func (in *inputs) add(run tracker.RunID, s tracker.Source) {
	d := description{string(s.ID), s.Name, s.Version, s.Digest, s.URI}
	u := in.known[d]
	if u == nil {
		u = &use{roles: map[tracker.Role]bool{}}
		in.known[d] = u
		in.order = append(in.order, d)
	}
	if !u.roles[s.Role] { // the graph tells by roles what kind of thing it is
		u.roles[s.Role] = true
		in.edges = append(in.edges, tracker.Edge{From: s.ID, To: run, Source: s})
	}
	if u.last != run {
		u.last = run
		u.runs++
	}
	if s.Time.IsZero() {
		return
	}
	if u.first.IsZero() || s.Time.Before(u.first) {
		u.first = s.Time
	}
	if s.Time.After(u.late) {
		u.late = s.Time
	}
}

// stored is a dataset of the store under the id by which runs name it.
type stored struct {
	id, uri   string
	ref       dataset.Ref // the zero value is none
	item      dataset.Item
	path, run string
}

// storedDatasets lists the datasets of a store under each of their names.
func storedDatasets(s *store.Store, items []dataset.Item) ([]stored, error) {
	var list []stored
	for _, item := range items {
		path := item.Commit.Splits[dataset.Train].Location(s)
		one := stored{item: item, path: path}
		if item.Commit.Maker != nil {
			one.run = string(item.Commit.Maker.Run)
		}
		names := item.Names
		if len(names) == 0 {
			names = []dataset.Ref{{}}
		}
		for _, ref := range names {
			input, err := tracker.NewInput(tracker.Source{URI: path, Name: ref.Name, Version: ref.Version}, "")
			if err != nil {
				return nil, fmt.Errorf("name dataset %s: %w", item.Commit.Fingerprint, err)
			}
			one.id, one.uri, one.ref = string(input.ID), input.URI, ref
			list = append(list, one)
		}
	}
	return list, nil
}

// datasetRow is a row of the table of datasets before it has an order.
type datasetRow struct {
	description
	kind   lineage.Kind
	use    use
	stored *stored
}

// rows joins what links tell with the datasets of the store.
func (in *inputs) rows(list []stored) ([]datasetRow, error) {
	byID := map[string]*stored{}
	for i := range list {
		byID[list[i].id] = &list[i]
	}
	graph := lineage.New(nil, in.edges)
	used := map[string]bool{}
	var rows []datasetRow
	for _, d := range in.order {
		node, err := graph.Node(d.id)
		if err != nil {
			return nil, err
		}
		if node.Kind == lineage.KindRun {
			continue // of which the root has no record
		}
		used[d.id] = true
		rows = append(rows, datasetRow{d, node.Kind, *in.known[d], byID[d.id]})
	}
	for i, s := range list {
		if !used[s.id] {
			d := description{id: s.id, name: s.ref.Name, version: s.ref.Version, digest: string(s.item.Commit.Fingerprint), uri: s.uri}
			rows = append(rows, datasetRow{d, lineage.KindDataset, use{}, &list[i]})
		}
	}
	slices.SortFunc(rows, func(a, b datasetRow) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version),
			cmp.Compare(a.digest, b.digest), cmp.Compare(a.uri, b.uri))
	})
	return rows, nil
}

// write adds the row to its table.
func (r datasetRow) write(ctx context.Context, w *tableWriter) error {
	cells := []any{r.id, string(r.kind), r.name, r.version, r.digest, r.uri, r.use.runs, r.use.first, r.use.late}
	if r.stored == nil {
		return w.add(ctx, append(cells, nil, nil, nil, nil, nil, nil)...)
	}
	item := r.stored.item
	return w.add(ctx, append(cells, string(item.Commit.Fingerprint), item.Rows(), item.Bytes(), item.Commit.Created, r.stored.run, r.stored.path)...)
}

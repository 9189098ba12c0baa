package tracker

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	runsAhead = 128 // how many runs Runs reads at a time
	runsEach  = 16  // how many of them a goroutine puts together
)

// RunsOptions narrow Runs. Nil and the zero value are all runs.
type RunsOptions struct {
	Parent RunID // only runs that used this one; "" = all
}

// EdgeSet is the whole graph of a root.
type EdgeSet struct {
	Runs     []RunID // sorted
	Edges    []Edge  // sorted by To, From and artifact
	Warnings []Warning
}

// rootScan is the full listing of a root.
type rootScan struct {
	runs     map[RunID]*listing
	warnings []Warning // about what is no run
}

// scan lists the whole root: one request for each 1,000 objects.
func (t *FileTracker) scan(ctx context.Context) (*rootScan, error) {
	root := &rootScan{runs: make(map[RunID]*listing)}
	var current *listing // of dir; nil if dir is no run
	dir := ""
	for o, err := range t.s.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		name, _, nested := strings.Cut(string(o.Key), "/")
		if !nested {
			continue // a file in the root disturbs nobody
		}
		if name != dir {
			dir, current = name, root.enter(name)
		}
		if current != nil {
			current.add(o)
		}
	}
	t.warnAll(root.warnings)
	return root, nil
}

// present is scan without the runs that were deleted.
func (t *FileTracker) present(ctx context.Context) (*rootScan, error) {
	root, err := t.scan(ctx)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(root.runs, func(_ RunID, l *listing) bool { return l.deleted })
	return root, nil
}

// enter begins a directory of the root.
func (r *rootScan) enter(name string) *listing {
	id, err := DecodeRunID(name)
	if err != nil {
		r.warnings = append(r.warnings, foreignDir(name))
		return nil
	}
	l := newListing(id)
	r.runs[id] = l
	return l
}

func foreignDir(name string) Warning {
	return Warning{Rule: directoryRule(name), Key: store.Key(name), Reason: "not the directory of a run"}
}

func (r *rootScan) ids() []RunID { return slices.Sorted(maps.Keys(r.runs)) }

// children inverts the sources of all runs.
func (r *rootScan) children() map[RunID][]RunID {
	found := make(map[RunID][]RunID)
	for _, id := range r.ids() {
		for parent := range r.runs[id].parents() {
			found[parent] = append(found[parent], id)
		}
	}
	return found
}

// RunIDs makes one request for each 1,000 runs, and with a parent one for each
// 1,000 objects of the root; on a local disk it looks for the parent alone in
// each run.
func (t *FileTracker) RunIDs(ctx context.Context, parent RunID) iter.Seq2[RunID, error] {
	return func(yield func(RunID, error) bool) {
		ids, err := t.runIDs(ctx, parent)
		if err != nil {
			yield("", fmt.Errorf("list runs: %w", err))
			return
		}
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

func (t *FileTracker) runIDs(ctx context.Context, parent RunID) ([]RunID, error) {
	if parent == "" {
		return t.allIDs(ctx)
	}
	if err := t.mayRead(ctx, parent); err != nil {
		return nil, err
	}
	var ids []RunID
	children := store.Holding{
		Any:  []store.Key{store.Key(sourcesDir).Join(parent.Encode()), store.Key(heirloomDir).Join(linksDir, parent.Encode())},
		None: []store.Key{store.Key(heirloomDir).Join(attemptsDir, deletedDir)},
	}
	for d, err := range t.s.ListDirsHolding(ctx, "", children) {
		if err != nil {
			return nil, err
		}
		id, err := DecodeRunID(string(d.Key))
		switch {
		case err != nil:
			t.opts.Warn(foreignDir(string(d.Key)))
		case d.Holds:
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func (t *FileTracker) allIDs(ctx context.Context) ([]RunID, error) {
	if err := t.readable(ctx); err != nil {
		return nil, err
	}
	var ids []RunID
	for e, err := range t.s.ListDir(ctx, "") {
		if err != nil {
			return nil, err
		}
		if !e.IsDir {
			continue
		}
		id, err := DecodeRunID(string(e.Key))
		if err != nil {
			t.opts.Warn(foreignDir(string(e.Key)))
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// Runs yields every run in full, sorted by id, from one listing of the root and
// bounded parallel reads. An error is the last thing yielded. opts may be nil.
func (t *FileTracker) Runs(ctx context.Context, opts *RunsOptions) iter.Seq2[*Run, error] {
	if opts == nil {
		opts = &RunsOptions{}
	}
	return func(yield func(*Run, error) bool) {
		for run, err := range t.runs(ctx, opts.Parent) {
			if err != nil {
				err = fmt.Errorf("list runs: %w", err)
			}
			if !yield(run, err) {
				return
			}
		}
	}
}

func (t *FileTracker) runs(ctx context.Context, parent RunID) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		if err := t.readable(ctx); err != nil {
			yield(nil, err)
			return
		}
		root, err := t.present(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		ids := root.ids()
		if parent != "" {
			ids = slices.DeleteFunc(ids, func(id RunID) bool { return !root.runs[id].uses(parent) })
		}
		children := root.children()
		for some := range slices.Chunk(ids, runsAhead) {
			runs, err := t.readRuns(ctx, root, some)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, run := range runs {
				run.Children = children[run.ID]
				if !yield(run, nil) {
					return
				}
			}
		}
	}
}

// readRuns reads some runs together.
func (t *FileTracker) readRuns(ctx context.Context, root *rootScan, ids []RunID) ([]*Run, error) {
	var keys []store.Key
	for _, id := range ids {
		keys = append(keys, root.runs[id].allKeys()...)
	}
	b, err := t.read(ctx, keys)
	if err != nil {
		return nil, err
	}
	runs, now := make([]*Run, len(ids)), t.opts.Now()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < len(ids); first += runsEach {
		group.Go(func() error {
			for i := first; i < min(first+runsEach, len(ids)); i++ {
				runs[i] = root.runs[ids[i]].run(b, now)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		t.warnAll(runs[i].Warnings)
		delete(root.runs, id) // read once; its names are no longer needed
	}
	return runs, nil
}

// Edges returns every edge of the root, from one listing, the text files, and
// those links that say more than their time; Time is zero on the others. A
// text file that cannot be read still counts as a link without a name.
func (t *FileTracker) Edges(ctx context.Context) (*EdgeSet, error) {
	set, err := t.edges(ctx)
	if err != nil {
		return nil, fmt.Errorf("list edges: %w", err)
	}
	return set, nil
}

func (t *FileTracker) edges(ctx context.Context) (*EdgeSet, error) {
	if err := t.readable(ctx); err != nil {
		return nil, err
	}
	root, err := t.present(ctx)
	if err != nil {
		return nil, err
	}
	set := &EdgeSet{Runs: root.ids(), Warnings: root.warnings}
	var keys []store.Key
	for _, l := range root.runs {
		keys = append(keys, l.sourceKeys("", false)...)
	}
	b, err := t.read(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, id := range set.Runs {
		l := root.runs[id]
		for _, s := range l.foldSources(b, "") {
			set.Edges = append(set.Edges, Edge{From: s.ID, To: id, Source: s})
		}
		t.warnAll(l.sortedWarnings())
		set.Warnings = append(set.Warnings, l.warnings...)
	}
	sortEdges(set.Edges)
	return set, nil
}

func sortEdges(list []Edge) {
	slices.SortFunc(list, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From), cmp.Compare(a.Source.Artifact, b.Source.Artifact))
	})
}

package tracker

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
)

// Run returns everything about a run, from one listing and its records. A run
// of which nothing is kept is store.ErrNotExist, and so is one that was deleted, as
// a *DeletedError.
func (t *FileTracker) Run(ctx context.Context, id RunID) (*Run, error) {
	l, err := t.list(ctx, id, "")
	if err != nil {
		return nil, readError(id, err)
	}
	if l.deleted {
		return nil, &DeletedError{Run: id}
	}
	if l.objects == 0 {
		return nil, &store.Error{Op: "read run", Key: string(id), Kind: store.ErrNotExist}
	}
	b, err := t.read(ctx, l.allKeys())
	if err != nil {
		return nil, readError(id, err)
	}
	run := l.run(b, t.opts.Now())
	t.warnAll(run.Warnings)
	return run, nil
}

// Metadata is last-wins by the number in the names of the records.
func (t *FileTracker) Metadata(ctx context.Context, run RunID) (*Metadata, error) {
	l, err := t.list(ctx, run, metadataDir)
	if err != nil {
		return nil, readError(run, err)
	}
	b, err := t.read(ctx, recordKeys(l.metadata))
	if err != nil {
		return nil, readError(run, err)
	}
	m := l.foldMetadata(b)
	t.warnAll(l.sortedWarnings())
	return m, nil
}

// Artifacts is last-wins by the number in the names of the records.
func (t *FileTracker) Artifacts(ctx context.Context, run RunID) ([]Artifact, error) {
	l, err := t.list(ctx, run, artifactsDir)
	if err != nil {
		return nil, readError(run, err)
	}
	b, err := t.read(ctx, recordKeys(l.artifacts))
	if err != nil {
		return nil, readError(run, err)
	}
	list := l.foldArtifacts(b)
	t.warnAll(l.sortedWarnings())
	return list, nil
}

// Sources is the union of links and text files. A link without a name stands
// beside named ones, where TorchX drops it.
func (t *FileTracker) Sources(ctx context.Context, run RunID, artifact string) ([]Source, error) {
	l, err := t.list(ctx, run, "")
	if err != nil {
		return nil, readError(run, err)
	}
	b, err := t.read(ctx, l.sourceKeys("", true))
	if err != nil {
		return nil, readError(run, err)
	}
	list := l.foldSources(b, "")
	t.warnAll(l.sortedWarnings())
	if artifact == "" {
		return list, nil
	}
	return slices.DeleteFunc(list, func(s Source) bool { return s.Artifact != artifact }), nil
}

// list sorts the objects of a run, or of one of its directories.
func (t *FileTracker) list(ctx context.Context, run RunID, below string) (*listing, error) {
	if err := t.mayRead(ctx, run); err != nil {
		return nil, err
	}
	prefix := run.Encode() + "/"
	if below != "" {
		prefix += below + "/"
	}
	l := newListing(run)
	for o, err := range t.s.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		l.add(o)
	}
	return l, nil
}

func readError(run RunID, err error) error {
	return fmt.Errorf("read run %s: %w", printable(string(run)), err)
}

// Lineage lists the whole root once: only the runs themselves know for certain
// what they used.
func (t *FileTracker) Lineage(ctx context.Context, run RunID) (Lineage, error) {
	if err := t.mayRead(ctx, run); err != nil {
		return Lineage{}, readError(run, err)
	}
	root, err := t.present(ctx)
	if err != nil {
		return Lineage{}, readError(run, err)
	}
	own, tracked := root.runs[run]
	if !tracked {
		own = newListing(run)
	}
	keys := slices.Concat(recordKeys(own.artifacts), own.sourceKeys("", true))
	consumers := slices.DeleteFunc(slices.Collect(maps.Values(root.runs)), func(l *listing) bool { return !l.uses(run) })
	for _, l := range consumers {
		keys = append(keys, l.sourceKeys(run, true)...)
	}
	slices.Sort(keys)
	b, err := t.read(ctx, slices.Compact(keys))
	if err != nil {
		return Lineage{}, readError(run, err)
	}
	found := Lineage{Run: run, Sources: own.foldSources(b, ""), Artifacts: own.foldArtifacts(b)}
	for _, l := range consumers {
		for _, s := range l.foldSources(b, run) {
			found.Consumers = append(found.Consumers, Edge{From: run, To: l.id, Source: s})
		}
		t.warnAll(l.sortedWarnings())
	}
	sortEdges(found.Consumers)
	return found, nil
}

package tracker

import (
	"context"
	"errors"
	"iter"
)

// Fanout writes to several trackers and reads from the first. Of none, writes
// do nothing and reads find nothing. It is safe for concurrent use.
type Fanout struct {
	trackers []Tracker
}

var _ Tracker = (*Fanout)(nil)

// NewFanout returns the tracker over these.
func NewFanout(trackers ...Tracker) *Fanout {
	return &Fanout{trackers: trackers}
}

// each writes to all, also after an error, and joins the errors.
func (f *Fanout) each(write func(Tracker) error) error {
	var failed []error
	for _, t := range f.trackers {
		failed = append(failed, write(t))
	}
	return errors.Join(failed...)
}

// AddArtifact writes to all; the errors are joined, as in the methods below.
func (f *Fanout) AddArtifact(ctx context.Context, run RunID, a Artifact) error {
	return f.each(func(t Tracker) error { return t.AddArtifact(ctx, run, a) })
}

// AddMetadata writes to all.
func (f *Fanout) AddMetadata(ctx context.Context, run RunID, m *Metadata) error {
	return f.each(func(t Tracker) error { return t.AddMetadata(ctx, run, m) })
}

// AddSource writes to all.
func (f *Fanout) AddSource(ctx context.Context, run RunID, s Source) error {
	return f.each(func(t Tracker) error { return t.AddSource(ctx, run, s) })
}

// Artifacts asks the first.
func (f *Fanout) Artifacts(ctx context.Context, run RunID) ([]Artifact, error) {
	if len(f.trackers) == 0 {
		return nil, nil
	}
	return f.trackers[0].Artifacts(ctx, run)
}

// Metadata asks the first.
func (f *Fanout) Metadata(ctx context.Context, run RunID) (*Metadata, error) {
	if len(f.trackers) == 0 {
		return &Metadata{}, nil
	}
	return f.trackers[0].Metadata(ctx, run)
}

// Sources asks the first.
func (f *Fanout) Sources(ctx context.Context, run RunID, artifact string) ([]Source, error) {
	if len(f.trackers) == 0 {
		return nil, nil
	}
	return f.trackers[0].Sources(ctx, run, artifact)
}

// Lineage asks the first.
func (f *Fanout) Lineage(ctx context.Context, run RunID) (Lineage, error) {
	if len(f.trackers) == 0 {
		return Lineage{Run: run}, nil
	}
	return f.trackers[0].Lineage(ctx, run)
}

// RunIDs asks the first.
func (f *Fanout) RunIDs(ctx context.Context, parent RunID) iter.Seq2[RunID, error] {
	if len(f.trackers) == 0 {
		return func(func(RunID, error) bool) {}
	}
	return f.trackers[0].RunIDs(ctx, parent)
}

package tracker

import (
	"context"
	"errors"
	"io"
	"sync"
)

// UndefinedID is the id of an AppRun outside of any launch, as in TorchX.
const UndefinedID RunID = "<UNDEFINED>"

// AppRun is a run as the job itself sees it: it writes to all of its trackers
// and reads from the first. It is safe for concurrent use.
type AppRun struct {
	id       RunID
	trackers *Fanout
	owned    []io.Closer // what Close releases

	closing sync.Once
	closed  error // set in closing
}

// RunSource is a source of an AppRun, with the run it names.
type RunSource struct {
	Source
	Run *AppRun
}

// NewAppRun returns the run id on these trackers, which the caller closes. With
// none, writes do nothing.
func NewAppRun(id RunID, trackers ...Tracker) *AppRun {
	return &AppRun{id: id, trackers: NewFanout(trackers...)}
}

// ID is the id of the run, UndefinedID outside of a launch.
func (r *AppRun) ID() RunID { return r.id }

// AddMetadata is Tracker.AddMetadata.
func (r *AppRun) AddMetadata(ctx context.Context, m *Metadata) error {
	return r.trackers.AddMetadata(ctx, r.id, m)
}

// AddArtifact is Tracker.AddArtifact.
func (r *AppRun) AddArtifact(ctx context.Context, a Artifact) error {
	return r.trackers.AddArtifact(ctx, r.id, a)
}

// AddSource is Tracker.AddSource.
func (r *AppRun) AddSource(ctx context.Context, s Source) error {
	return r.trackers.AddSource(ctx, r.id, s)
}

// Sources lists what the run used, each as a run on the same trackers.
func (r *AppRun) Sources(ctx context.Context) ([]RunSource, error) {
	list, err := r.trackers.Sources(ctx, r.id, "")
	if err != nil {
		return nil, err
	}
	sources := make([]RunSource, len(list))
	for i, s := range list {
		sources[i] = RunSource{Source: s, Run: r.sibling(s.ID)}
	}
	return sources, nil
}

// Children lists the runs that used this one, sorted by id, on the same trackers.
func (r *AppRun) Children(ctx context.Context) ([]*AppRun, error) {
	var children []*AppRun
	for id, err := range r.trackers.RunIDs(ctx, r.id) {
		if err != nil {
			return nil, err
		}
		children = append(children, r.sibling(id))
	}
	return children, nil
}

func (r *AppRun) sibling(id RunID) *AppRun {
	return &AppRun{id: id, trackers: r.trackers}
}

// Close releases what FromEnviron opened; runs that Sources and Children
// returned cannot be used afterwards. Calls after the first change nothing.
func (r *AppRun) Close() error {
	r.closing.Do(func() {
		var failed []error
		for _, c := range r.owned {
			failed = append(failed, c.Close())
		}
		r.closed = errors.Join(failed...)
	})
	return r.closed
}

package tracker

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// UndefinedID is the id of an AppRun outside of any launch, as in TorchX.
const UndefinedID RunID = "<UNDEFINED>"

// AppRun is a run as the job itself sees it: it writes to all of its trackers
// and reads from the first. It is safe for concurrent use.
//
// What a job reports in quick succession goes into one record: AddMetadata and
// AddMetrics write at once after a pause, and else within five seconds, at 256
// KiB, at Flush and at Close, whichever comes first. What is to survive the
// sudden death of the process is followed by Flush.
type AppRun struct {
	id       RunID
	trackers *Fanout
	buffers  []*buffer   // one for each tracker; none for the runs that Sources and Children return
	owned    []io.Closer // what Close releases

	wrote atomic.Bool // something, since the beginning

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
	r := &AppRun{id: id, trackers: NewFanout()}
	for _, t := range trackers {
		r.add(t)
	}
	return r
}

// add is for the time before the first use.
func (r *AppRun) add(t Tracker) {
	r.trackers.trackers = append(r.trackers.trackers, t)
	r.buffers = append(r.buffers, &buffer{write: func(ctx context.Context, b Batch) error { return addBatch(ctx, t, r.id, b) }})
}

// batchWriter is a tracker that takes more than metadata in one record.
type batchWriter interface {
	AddBatch(ctx context.Context, run RunID, b Batch) error
}

func addBatch(ctx context.Context, t Tracker, run RunID, b Batch) error {
	if w, ok := t.(batchWriter); ok {
		return w.AddBatch(ctx, run, b)
	}
	return t.AddMetadata(ctx, run, b.Metadata)
}

// ID is the id of the run, UndefinedID outside of a launch.
func (r *AppRun) ID() RunID { return r.id }

// AddMetadata is Tracker.AddMetadata, put together with what is reported soon
// after. An error may be that of an earlier report; all are joined.
func (r *AppRun) AddMetadata(ctx context.Context, m *Metadata) error {
	r.wrote.Store(true)
	if r.buffers == nil {
		return r.trackers.AddMetadata(ctx, r.id, m)
	}
	return r.eachBuffer(func(b *buffer) error { return b.metadata(ctx, m) })
}

// AddMetrics records the values of metrics at one step, as points of their
// series; the last value of each is also metadata, as metrics.NAME. Errors are
// those of AddMetadata.
func (r *AppRun) AddMetrics(ctx context.Context, step int64, values map[string]float64) error {
	for name := range values {
		if !metricName(name) {
			return invalid("%q is no name of a metric: 1 to %d bytes without control characters", printable(name), maxMetricBytes)
		}
	}
	r.wrote.Store(true)
	return r.eachBuffer(func(b *buffer) error { return b.points(ctx, step, values) })
}

// Flush writes what waits.
func (r *AppRun) Flush(ctx context.Context) error {
	return r.eachBuffer(func(b *buffer) error { return b.flush(ctx) })
}

func (r *AppRun) eachBuffer(do func(*buffer) error) error {
	var failed []error
	for _, b := range r.buffers {
		failed = append(failed, do(b))
	}
	return errors.Join(failed...)
}

// AddArtifact is Tracker.AddArtifact.
func (r *AppRun) AddArtifact(ctx context.Context, a Artifact) error {
	r.wrote.Store(true)
	return r.trackers.AddArtifact(ctx, r.id, a)
}

// AddSource is Tracker.AddSource.
func (r *AppRun) AddSource(ctx context.Context, s Source) error {
	r.wrote.Store(true)
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

// announcer is a tracker that tells others of what was written.
type announcer interface {
	Announce(ctx context.Context, run RunID) error
}

// announce tells the readers of all trackers of what the run has written, if it has.
func (r *AppRun) announce(ctx context.Context) error {
	if !r.wrote.Load() {
		return nil
	}
	return r.trackers.each(func(t Tracker) error {
		if a, ok := t.(announcer); ok {
			return a.Announce(ctx, r.id)
		}
		return nil
	})
}

// Close writes what waits and releases what FromEnviron opened; runs that Sources and Children
// returned cannot be used afterwards. Calls after the first change nothing.
func (r *AppRun) Close() error {
	r.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushDeadline)
		defer cancel()
		failed := []error{r.eachBuffer(func(b *buffer) error { return b.close(ctx) })}
		failed = append(failed, r.announce(ctx))
		for _, c := range r.owned {
			failed = append(failed, c.Close())
		}
		r.closed = errors.Join(failed...)
	})
	return r.closed
}

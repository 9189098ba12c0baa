package tracker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// flushEvery is how long what an AppRun was told may wait for more.
	flushEvery = 5 * time.Second
	// flushBytes is about how much of it may wait.
	flushBytes = 256 << 10
	// maxWaiting is about how much may wait for a tracker that does not answer.
	maxWaiting = 16 << 20
	// flushDeadline bounds a write that nobody waits for.
	flushDeadline = 30 * time.Second
)

// buffer collects what a job reports between two writes. After a pause the first
// report is written at once, so that a job with little to say finds it recorded
// when the call returns; only those that follow soon are put together.
type buffer struct {
	write func(context.Context, Batch) error

	writing sync.Mutex // held for the time of a write, so that records keep their order

	mu      sync.Mutex // guards what follows
	batch   Batch
	since   map[string]time.Time // when the values in batch.Metadata were reported
	size    int                  // bytes of batch, about
	written time.Time            // begin of the last write, its end once it is over
	timer   *time.Timer          // nil while nothing waits
	failed  error                // of writes that nobody waited for
}

// metadata takes a report in, and writes if it is time to.
func (b *buffer) metadata(ctx context.Context, m *Metadata) error {
	return b.take(ctx, func(now time.Time) {
		for key, value := range m.All() {
			if old, ok := b.batch.Metadata.Get(key); ok {
				b.batch.History[key] = append(b.batch.History[key], Change{Time: b.since[key], Value: old})
			}
			b.set(key, value, now)
		}
	})
}

// points takes metrics in, and their last values as metadata.
func (b *buffer) points(ctx context.Context, step int64, values map[string]float64) error {
	return b.take(ctx, func(now time.Time) {
		for name, value := range values {
			b.batch.Series.Add(name, Point{Step: step, Time: now, Value: value})
			b.set(PrefixMetrics+name, value, now)
		}
	})
}

func (b *buffer) set(key string, value any, now time.Time) {
	b.batch.Metadata.Set(key, value)
	b.since[key] = now
	b.size += len(key) + 48
	if text, ok := value.(string); ok {
		b.size += len(text)
	}
}

func (b *buffer) take(ctx context.Context, add func(now time.Time)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	if b.size >= maxWaiting {
		b.mu.Unlock()
		if err := b.flush(ctx); err != nil {
			return fmt.Errorf("not taken, since too much waits to be written: %w", err)
		}
		b.mu.Lock()
	}
	if b.batch.Metadata == nil {
		b.batch = newBatch()
		b.since = make(map[string]time.Time)
	}
	add(time.Now())
	wait := flushEvery - time.Since(b.written)
	late := wait <= 0 && b.timer == nil || b.size >= flushBytes
	if !late && b.timer == nil {
		b.timer = time.AfterFunc(wait, b.flushLate)
	}
	failed := b.failed
	b.failed = nil
	b.mu.Unlock()
	if late {
		return errors.Join(failed, b.flush(ctx))
	}
	return failed
}

// flushLate writes what has waited. Its error is told to the next caller.
func (b *buffer) flushLate() {
	ctx, cancel := context.WithTimeout(context.Background(), flushDeadline)
	defer cancel()
	if err := b.flush(ctx); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.failed = errors.Join(b.failed, err)
	}
}

// flush writes what waits. What could not be written waits on, in front of what
// came meanwhile.
func (b *buffer) flush(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	batch, size := b.cut()
	if batch.Metadata == nil {
		return nil
	}
	err := b.write(ctx, batch)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.written = time.Now()
	if err != nil {
		if b.since == nil {
			b.since = make(map[string]time.Time)
		}
		b.batch, b.size = batch.then(b.batch), size+b.size
	}
	return err
}

// cut takes out what waits.
func (b *buffer) cut() (Batch, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, size := b.batch, b.size
	b.batch, b.size, b.written = Batch{}, 0, time.Now()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	return batch, size
}

// close writes what waits and tells of all that failed.
func (b *buffer) close(ctx context.Context) error {
	err := b.flush(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	err = errors.Join(b.failed, err)
	b.failed = nil
	return err
}

func newBatch() Batch {
	return Batch{Metadata: &Metadata{}, History: make(map[string][]Change), Series: make(Series)}
}

// then is b followed by next.
func (b Batch) then(next Batch) Batch {
	for name, points := range next.Series {
		b.Series[name] = append(b.Series[name], points...)
	}
	for key, changes := range next.History {
		b.History[key] = append(b.History[key], changes...)
	}
	b.Metadata.Merge(next.Metadata)
	return b
}

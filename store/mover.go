package store

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

const (
	defaultParallel = 8   // requests at once that move a part
	cloudParallel   = 16  // to an object store, where a connection may carry little and holds no part in memory
	defaultPlaces   = 64  // small requests at once, instead of those
	localPlaces     = 256 // onto a local disk, since files that end together share a flush
	localReads      = 16  // from a local disk, which has no way to wait for
	defaultMemory   = 96 << 20
	copyBuffer      = 256 << 10 // bytes, of one reading goroutine
	reusedAtMost    = 16 << 10  // bytes of a file whose buffer serves another file later; there may be localPlaces of them
)

// mover is what the files of one transfer share.
type mover struct {
	store  *Store
	op     string // the caller's verb, for errors
	from   string // rootURL of the store
	opts   TransferOptions
	gate   *gate
	wide   int // places of a request that moves a part
	memory *semaphore.Weighted
	meter  *transferMeter
	copies sync.Pool // of *[]byte, copyBuffer long
	bodies sync.Pool // of *[]byte, reusedAtMost long
	// inSequence is set once the file system of a download has shown that it takes
	// a file only from front to back.
	inSequence atomic.Bool
}

// newMover begins a transfer, whose requests are made with the context that it
// returns.
func (s *Store) newMover(ctx context.Context, op string, opts *TransferOptions) (*mover, context.Context) {
	m := &mover{store: s, op: op, from: s.rootURL(), wide: 1}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Parallel <= 0 {
		parts := 0
		parts, m.opts.Parallel = s.parallel(op)
		m.wide = m.opts.Parallel / parts
	}
	if m.opts.Memory <= 0 {
		m.opts.Memory = defaultMemory
	}
	m.gate = newGate(m.opts.Parallel)
	m.memory = semaphore.NewWeighted(m.opts.Memory)
	m.meter = newTransferMeter(m.opts.Progress)
	m.copies.New = func() any { b := make([]byte, copyBuffer); return &b }
	m.bodies.New = func() any { b := make([]byte, reusedAtMost); return &b }
	return m, paced(ctx, newPacer(m.gate))
}

// parallel is how many parts, and how many small objects, move at once where the
// caller does not say.
func (s *Store) parallel(op string) (parts, small int) {
	switch s.place.scheme {
	case "file":
		if op == "download" {
			return defaultParallel, localReads
		}
		return defaultParallel, localPlaces
	case "s3", "gs":
		return cloudParallel, defaultPlaces
	}
	return defaultParallel, defaultPlaces
}

// wideAtOnce is how many requests that move a part go at once, which a loop need
// not exceed.
func (m *mover) wideAtOnce() int { return max(m.opts.Parallel/m.wide, 1) }

// at does one request when there is a place for it.
func (m *mover) at(ctx context.Context, places int, do func() error) error {
	if err := m.gate.enter(ctx, places); err != nil {
		return err
	}
	defer m.gate.leave(places)
	return do()
}

// holding does something that needs a buffer of so many bytes, when there is
// memory for it.
func (m *mover) holding(ctx context.Context, bytes int64, do func() error) error {
	bytes = min(bytes, m.opts.Memory)
	if err := m.memory.Acquire(ctx, bytes); err != nil {
		return err
	}
	defer m.memory.Release(bytes)
	return do()
}

// failed gives an error the verb of the caller.
func (m *mover) failed(key string, err error) error {
	if err == nil {
		return nil
	}
	return m.store.renamed(m.op, m.store.wrap(m.op, key, err))
}

package tracker

import (
	"crypto/rand"
	"io"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Options adjust NewFileTracker. Nil and the zero value are the defaults.
type Options struct {
	Now    func() time.Time // nil = time.Now
	Rand   io.Reader        // for the names of records; nil = crypto/rand
	Writer string           // recorded as who wrote, e.g. "heirloom 1.2"; may be empty
	// Warn is told of what a read passed over. Nil = nobody. It may be called
	// from several goroutines.
	Warn func(Warning)
	// Journal is where Announce writes and Journal reads, the root of a store for it
	// alone; nil = nowhere.
	Journal *store.Store
	// Wrote is told of each run that something was written to, after it was. Nil = nobody. It may be called from
	// several goroutines.
	Wrote func(RunID)
}

// FileTracker is the Tracker on a store. It is safe for concurrent use, and any
// number of them, in any number of processes, may share a root.
type FileTracker struct {
	s      *store.Store
	opts   Options
	clock  *clock
	format formatCache
	turns  turns
}

var _ Tracker = (*FileTracker)(nil)

// NewFileTracker returns the tracker whose root is the root of s. It makes no
// request. opts may be nil. The caller closes s.
func NewFileTracker(s *store.Store, opts *Options) *FileTracker {
	t := &FileTracker{s: s, clock: &processClock}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.Now == nil {
		t.opts.Now = time.Now
	} else {
		t.clock = &clock{}
	}
	if t.opts.Rand == nil {
		t.opts.Rand = rand.Reader
	}
	if t.opts.Warn == nil {
		t.opts.Warn = func(Warning) {}
	}
	if t.opts.Wrote == nil {
		t.opts.Wrote = func(RunID) {}
	}
	return t
}

// Store is the store at the tracker's root.
func (t *FileTracker) Store() *store.Store { return t.s }

func (t *FileTracker) warnAll(list []Warning) {
	for _, w := range list {
		t.opts.Warn(w)
	}
}

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/settle"
	"github.com/heirloom-ml/heirloom/store/internal/syncjournal"
)

const (
	// defaultEvery is the time from the end of one pass to the next.
	defaultEvery = 30 * time.Second
	// finalTries is how often Final looks again for files that changed under it.
	finalTries = 3
	// endReserve is kept free at the end of a deadline, to say what was sent.
	endReserve = 2 * time.Second
	// ownDir is the directory of the manifest below the prefix; nothing of that
	// name is mirrored.
	ownDir = ".heirloom"
	// stateName is where the notes of a Sync lie in the mirrored directory, unless
	// SyncOptions.StateDir says otherwise; it is not mirrored.
	stateName = ".heirloom-sync"
)

// SyncOptions adjust NewSync. Nil and the zero value are the defaults.
type SyncOptions struct {
	Every  time.Duration // Run's pause between passes; 0 is 30 s
	Stable time.Duration // how long a file must stand still where nothing else tells that it is whole; 0 is 5 s

	// Ready are patterns of path.Match for slash paths, or for last elements where
	// they hold no slash: such a file is whole as soon as it is there, and so are
	// those of its directory that are not newer.
	Ready []string

	// Delete removes from the store what was mirrored and is no longer in the
	// directory. Only a look that could read all of it decides that.
	Delete bool

	// Replica names this writer among several that mirror into one prefix. Where
	// another holds other bytes under a key, the error is ErrConflict and names
	// both. "" is for a writer that is alone.
	Replica string

	// Fresh promises that there is nothing below the prefix yet, which saves the
	// first listing.
	Fresh bool

	// StateDir is a local directory for notes of what was sent, by which a later
	// process goes on. "" is .heirloom-sync in the mirrored directory.
	StateDir string

	// Skip leaves out a file, or a directory with all below it, by its slash path.
	Skip func(path string) bool

	// Progress is called as that of TransferOptions is, over all passes: for what
	// is read to learn whether it is new, and for what is sent. Nil is nobody.
	Progress func(Progress)

	Parallel int              // files at once, and at most parts of a long one; 0 is 8
	PartSize int64            // bytes of a part of a long file; 0 is by the backend and the size
	Now      func() time.Time // the clock; nil is time.Now
}

// Sync mirrors a directory into a store while others write it. Its methods may
// be called from several goroutines; one pass runs at a time. Only one Sync, of
// all processes, should mirror a directory.
type Sync struct {
	store  *Store
	dir    string
	prefix Key
	opts   SyncOptions
	state  string
	meter  *transferMeter

	mu      sync.Mutex // guards what follows, held for a whole pass
	judge   *settle.Judge
	journal *syncjournal.File
	listed  bool // the prefix was listed, or written to
	closed  bool
}

// NewSync prepares to mirror the local directory dir to the keys below prefix.
// opts may be nil. It makes the directory of its notes, and no request. The
// caller closes it.
func (s *Store) NewSync(dir string, prefix Key, opts *SyncOptions) (*Sync, error) {
	y := &Sync{store: s, dir: dir, prefix: prefix}
	if opts != nil {
		y.opts = *opts
	}
	y.meter = newTransferMeter(y.opts.Progress)
	if _, err := s.full(prefix); err != nil {
		return nil, s.wrap("sync", string(prefix), err)
	}
	if err := y.checkReady(); err != nil {
		return nil, s.wrap("sync", string(prefix), err)
	}
	y.state = y.opts.StateDir
	if y.state == "" {
		y.state = filepath.Join(dir, stateName)
	}
	if err := os.MkdirAll(y.state, 0o777); err != nil {
		return nil, s.wrap("sync", y.state, err)
	}
	var err error
	name := "sent-" + string(DigestOf([]byte(s.KeyURL(prefix))))[:16]
	if y.journal, err = syncjournal.Open(filepath.Join(y.state, name)); err != nil {
		return nil, s.wrap("sync", y.state, err)
	}
	y.judge = settle.New(dir, settle.Options{Stable: y.opts.Stable, Now: y.opts.Now})
	return y, nil
}

// Pass looks once through the directory and sends what is new, whole, and not
// being written. On an unchanged directory it makes one listing. What waits, and
// why, is in the report; the error tells of what failed, and the rest was done.
// A file is never visible in the store in a state that it did not have, and a
// mark that commits others, such as PyTorch's .metadata, never before them.
func (y *Sync) Pass(ctx context.Context) (SyncReport, error) { return y.pass(ctx, looking) }

// Send is a Pass for the writer itself, who speaks for its files: none has to
// stand still first. What is open for writing, has a temporary name or lacks its
// end waits nevertheless.
func (y *Sync) Send(ctx context.Context) (SyncReport, error) { return y.pass(ctx, vouched) }

// Final sends everything, for its writer has ended: what looks unfinished too.
// Where ctx has a deadline the newest complete checkpoint goes first, and Final
// ends before it. The error is nil only if the store holds all there is, save
// what the report lists as skipped. ErrConflict tells of files that were changed
// again and again.
func (y *Sync) Final(ctx context.Context) (SyncReport, error) {
	var total SyncReport
	for try := 1; ; try++ {
		report, err := y.pass(ctx, ended)
		total.add(report)
		switch {
		case err != nil || ctx.Err() != nil:
			return total, errors.Join(err, y.store.wrap("sync", string(y.prefix), context.Cause(ctx)))
		case len(report.Waiting) == 0:
			return total, nil
		case try == finalTries:
			w := report.Waiting[0]
			return total, &Error{Op: "sync", Key: w.Path, Kind: ErrConflict, Err: errors.New(w.Reason)}
		}
	}
}

// Run makes a pass, and one more each time Every has gone by, until ctx ends,
// which is no error. Passes that fail are tried again; the error is that of the
// last, if it failed.
func (y *Sync) Run(ctx context.Context) error {
	every := y.opts.Every
	if every == 0 {
		every = defaultEvery
	}
	tick := time.NewTimer(every)
	defer tick.Stop()
	var last error
	for {
		_, err := y.Pass(ctx)
		if ctx.Err() != nil {
			return last
		}
		last = err
		tick.Reset(every)
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
	}
}

// Close releases files; the notes stay for a later Sync. Calls after the first
// change nothing.
func (y *Sync) Close() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.closed {
		return nil
	}
	y.closed = true
	return y.store.wrap("sync", y.state, errors.Join(y.judge.Close(), y.journal.Close()))
}

// writer is what a pass may think of who writes the files.
type writer int

const (
	looking writer = iota // it may be at work
	vouched               // it asks for the pass
	ended
)

func (y *Sync) pass(ctx context.Context, w writer) (SyncReport, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.closed {
		return SyncReport{}, &Error{Op: "sync", Key: string(y.prefix), Kind: ErrInvalid, Err: errors.New("it is closed")}
	}
	p := &syncPass{Sync: y, vouched: w == vouched, final: w == ended, long: make(chan struct{}, longFiles)}
	err := p.run(ctx)
	y.meter.finish()
	p.report.sort()
	return p.report, err
}

func (y *Sync) parallel() int {
	if y.opts.Parallel > 0 {
		return y.opts.Parallel
	}
	return defaultParallel
}

func (y *Sync) key(path string) Key { return y.prefix.Join(path) }

// wrapFile names a file of the directory in an error.
func (y *Sync) wrapFile(path string, err error) error {
	return y.store.wrap("sync", filepath.Join(y.dir, filepath.FromSlash(path)), err)
}

// errChanged says that a file is not what it was a moment ago.
var errChanged = fmt.Errorf("it changed while it was read: %w", ErrConflict)

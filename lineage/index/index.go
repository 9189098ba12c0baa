package index

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// DefaultMaxAge is how old an index may be before it is brought up to date.
const DefaultMaxAge = 30 * time.Second

// Options change how an index is opened. Dir is needed, the rest may be zero.
type Options struct {
	Dir string // of the user's cache; each root has a file of its own below it
	// Now is the clock; nil = time.Now.
	Now func() time.Time
	// Progress is told how many runs a refresh has listed and read so far; nil = nobody is.
	Progress func(listed, read int)
}

// Index answers questions about one tracker root. It is safe for concurrent use. Close it.
type Index struct {
	db      *sql.DB
	tracker *tracker.FileTracker
	file    string
	opts    Options
	newest  int // newestRuns, but for tests
}

// Open opens the index of a root, or makes an empty one where there is none, or one that is damaged or of another
// version. Errors are those of the file system, as kinds of package store: an index that cannot be kept is no reason
// not to answer, see Memory.
func Open(ctx context.Context, t *tracker.FileTracker, opts Options) (*Index, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	file, err := fileOf(t, opts.Dir)
	if err != nil {
		return nil, &store.Error{Op: "open index", Key: opts.Dir, Kind: kindOf(err), Err: err}
	}
	db, err := open(ctx, file)
	if errors.Is(err, errForeign) {
		db, err = replace(ctx, file)
	}
	if err != nil {
		return nil, &store.Error{Op: "open index", Key: file, Kind: kindOf(err), Err: err}
	}
	return &Index{db: db, tracker: t, file: file, opts: opts, newest: newestRuns}, nil
}

// Memory is an index that is kept nowhere, for when there is no place for one.
func Memory(ctx context.Context, t *tracker.FileTracker, opts Options) (*Index, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	db, err := connect(ctx, "file::memory:?cache=private", asking)
	if err != nil {
		return nil, &store.Error{Op: "open index", Key: "memory", Kind: kindOf(err), Err: err}
	}
	db.SetMaxOpenConns(1)
	return &Index{db: db, tracker: t, opts: opts, newest: newestRuns}, nil
}

// File is where the index is kept, "" if nowhere.
func (x *Index) File() string { return x.file }

// Close releases the file. It may be called twice.
func (x *Index) Close() error { return x.db.Close() }

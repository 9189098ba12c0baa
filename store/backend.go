package store

import (
	"context"
	"errors"
	"io"
)

// backend is what a scheme brings. Keys are whole, with the prefix of the store
// in front. A method is one request to the far side, save where it says
// otherwise, is safe for concurrent use, and returns the provider's own errors:
// Store counts, retries and classifies.
type backend interface {
	// read opens length bytes from offset on, up to the end if length < 0. The
	// Object tells the size of the whole. With a version other than "" the error
	// is ErrConflict if the object has another.
	read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error)
	stat(ctx context.Context, key string) (Object, error)
	// write stores body in one step if cond holds, else ErrExist or ErrConflict.
	write(ctx context.Context, key string, body []byte, cond condition) (Object, error)
	// pages lists what lies below prefix, to the next delimiter if there is one, and
	// beyond the key after, which is "" or lies below prefix too.
	pages(prefix, delimiter, after string) pager
	// remove is ErrNotExist if there is nothing, where the far side can tell.
	remove(ctx context.Context, key string) error
	capabilities() Capabilities
	close() error
}

// streamer is a backend that takes a long source in one go rather than parted.
// Every backend is one of the two.
type streamer interface {
	// stream stores all of r, or nothing if reading it fails. It replaces, or with
	// absent is ErrExist where there is an object. Each of its requests goes
	// through send.
	stream(ctx context.Context, key string, r io.Reader, absent bool, send sendFunc) (Object, error)
}

// condition says when a write may take place. The zero value is always.
type condition struct {
	absent  bool   // only if the key does not exist
	version string // only if the object has this version, unless ""
	// id marks the write, so that its author can recognise it later.
	id string
}

func (c condition) none() bool { return !c.absent && c.version == "" }

// refused gives a backend's refusal its kind: some call all conditions alike.
func (c condition) refused(err error) error {
	if c.absent && errors.Is(kindOf(err), ErrConflict) {
		return errors.Join(ErrExist, brief(err))
	}
	return err
}

// sendFunc makes one request of a streamed write, counted, and tried again if
// do can be repeated. bytes is what it carries, 0 if not known before.
type sendFunc func(ctx context.Context, bytes int64, again bool, do func(ctx context.Context) error) error

// pager fetches a listing piece by piece. A call that failed may be repeated.
type pager interface {
	// next returns up to 1,000 entries in order, and whether more may follow.
	next(ctx context.Context) (entries []Entry, more bool, err error)
	// stop releases what the pager holds; it may be called more than once.
	stop()
}

// marked is a backend that remembers the id of the last write of an object.
type marked interface {
	// writeID is "" if the object carries none.
	writeID(ctx context.Context, key string) (string, error)
}

// appender is a backend that can add lines to a text file in place, under a
// lock that writers of all processes hold.
type appender interface {
	appendLines(ctx context.Context, key string, lines []string) error
}

// wholeReader is a backend that has a shorter way to the whole of a small object
// than to open it.
type wholeReader interface {
	readWhole(ctx context.Context, key string) ([]byte, error)
}

// sequential is a backend whose listings all begin at the first key of their prefix,
// wherever they are to begin.
type sequential interface{ listsFromStart() }

// holdingLister is a backend that tells what directories hold without listing them.
type holdingLister interface {
	// dirsHolding lists the directories right below dir, which is "" or ends in a
	// slash, sorted by their keys, with whether they hold what is asked for.
	dirsHolding(ctx context.Context, dir string, what Holding) ([]DirHolding, error)
}

// renewer is a backend whose credentials may expire while it is open.
type renewer interface {
	// renew reads them anew and reports whether they are others than before.
	renew(ctx context.Context) bool
}

// blind is a backend whose remove succeeds where nothing was.
type blind interface{ removesBlindly() }

package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"
)

// parted is a backend that takes one object in parts, in any order and several
// at once. Nothing is visible before complete. A method is one request, as in
// backend, save where it says otherwise. token is what begin returned, in this
// process or an earlier one; where it is gone the error is ErrNotExist.
type parted interface {
	// partSize is that of every part but the last of an object of size bytes, or
	// of one of unknown length if size < 0: want, as far as the far side allows
	// that, or its own choice if want is 0. What fits into one part is written in
	// one step instead.
	partSize(size, want int64) int64
	// begin opens an upload. id marks the object to come, as that of a condition
	// does.
	begin(ctx context.Context, key, id string) (token string, err error)
	// part stores part n, counted from 0. crc is the CRC-32C of body, which may be
	// read again. What it returns goes to complete.
	part(ctx context.Context, key, token string, n int, body *io.SectionReader, crc uint32) (tag string, err error)
	// complete publishes the parts in their order if cond holds, else ErrExist or
	// ErrConflict; it may take several requests. cond carries the id of begin.
	complete(ctx context.Context, key, token string, parts []part, cond condition) (Object, error)
	// abort frees what was sent; it is no error if nothing is there.
	abort(ctx context.Context, key, token string) error
	// unfinished yields what was begun below prefix and neither completed nor
	// aborted, in the order of the keys.
	unfinished(ctx context.Context, prefix string) iter.Seq2[upload, error]
}

// errUploadGone says that the parts of an upload are void: it is to begin again.
var errUploadGone = fmt.Errorf("the upload is gone: %w", ErrNotExist)

// uploadGone says so for what a provider said, which itself might be tried again.
func uploadGone(err error) error {
	return fmt.Errorf("%w: %s", errUploadGone, brief(err).Error())
}

// partKeeper is a parted backend whose parts a crash can harm after they
// arrived.
type partKeeper interface {
	// holds reports whether part n, at that offset of the object, is there as p
	// says.
	holds(ctx context.Context, key, token string, n int, offset int64, p part) (bool, error)
}

// partLimited is a parted backend that takes but so many parts of an object.
type partLimited interface{ partsAtMost() int }

// placer is a parted backend that writes parts where they belong and sums them
// up on the way, so that nobody need read them before. partAt is used in place of
// part.
type placer interface {
	partAt(ctx context.Context, key, token string, offset int64, body *io.SectionReader) (crc uint32, err error)
}

// part is one that arrived.
type part struct {
	size int64 // bytes
	crc  uint32
	tag  string
}

// upload is one that was begun.
type upload struct {
	key, token string
	begun      time.Time
}

// summed is a backend that knows the CRC-32C of whole objects.
type summed interface {
	// checksum is that of the object while it has this version, else ErrConflict;
	// known is false where the far side has none.
	checksum(ctx context.Context, key, version string) (crc uint32, known bool, err error)
}

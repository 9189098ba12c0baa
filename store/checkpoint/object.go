package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	blockSize = 64 << 10 // bytes that one request reads
	maxBlocks = 4        // blocks kept
	maxText   = 64 << 20 // bytes of an index or of metadata that is read at all
)

// object reads one version of a stored file, by ranges: what replaces it shows itself as store.ErrConflict. It is used
// by one goroutine.
type object struct {
	store.Object
	ctx    context.Context // of Find: an object is a part of it
	s      *store.Store
	blocks map[int64][]byte
}

func (f *finder) object(ctx context.Context, o store.Object) *object {
	return &object{Object: o, ctx: ctx, s: f.s, blocks: map[int64][]byte{}}
}

// ReadAt is io.ReaderAt's.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= o.Size {
			return n, io.EOF
		}
		block, err := o.block(at / blockSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], block[at%blockSize:])
	}
	return n, nil
}

func (o *object) block(i int64) ([]byte, error) {
	if b, ok := o.blocks[i]; ok {
		return b, nil
	}
	b, err := o.fetch(i*blockSize, min(blockSize, o.Size-i*blockSize))
	if err != nil {
		return nil, err
	}
	if len(o.blocks) == maxBlocks {
		clear(o.blocks)
	}
	o.blocks[i] = b
	return b, nil
}

func (o *object) fetch(off, n int64) ([]byte, error) {
	r, err := o.s.OpenRange(o.ctx, o.Key, off, n, o.Version)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Object().Size != o.Size {
		return nil, fmt.Errorf("read %s: %w", o.Key, store.ErrConflict)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

// text is the whole of a small file.
func (o *object) text() ([]byte, error) {
	if o.Size > maxText {
		return nil, notWhole("%s has %d bytes, more than are looked at", o.Key.Base(), o.Size)
	}
	if o.Size == 0 {
		return nil, notWhole("%s is empty", o.Key.Base())
	}
	return o.fetch(0, o.Size)
}

// reason is why a checkpoint is not whole, as an error on the way to its Reason.
type reason string

func (r reason) Error() string { return string(r) }

func notWhole(format string, args ...any) error { return reason(fmt.Sprintf(format, args...)) }

// verdict turns what a check found into a Reason. Errors that say nothing about the checkpoint come back.
func verdict(err error) (string, error) {
	var why reason
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &why):
		return string(why), nil
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotExist):
		return "it changed while it was looked at", nil
	case errors.Is(err, store.ErrPermission), errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrInvalid):
		return fmt.Sprintf("it cannot be read: %v", err), nil
	}
	return "", err
}

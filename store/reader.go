package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// errRange says that a range starts at or behind the end of an object.
var errRange = dirtree.ErrRange

// Reader streams an object, or a range of one. Where the stream breaks off it
// goes on from the same byte of the same version. It is used by one goroutine.
type Reader struct {
	store  *Store
	ctx    context.Context // of Open: a Reader is one operation
	op     string
	full   string
	object Object

	body   io.ReadCloser // nil once closed or broken
	offset int64         // of the next byte, in the object
	left   int64         // bytes still to come
	broken int           // breaks since the last byte that came
}

// Object describes what is read; its Size is that of the whole object.
func (r *Reader) Object() Object { return r.object }

// Read is io.Reader's. A stream that stays short is ErrCorrupt, never io.EOF.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		if r.left == 0 {
			return 0, r.end()
		}
		if err := r.resume(); err != nil {
			return 0, err
		}
		if len(p) == 0 {
			return 0, nil
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.left)])
		r.advance(n)
		if n > 0 || err == nil {
			return n, nil // an error shows itself again in the next Read
		}
		if err := r.interrupted(err); err != nil {
			return 0, err
		}
	}
}

// Close releases the connection; it may be called more than once.
func (r *Reader) Close() error {
	body := r.body
	r.body = nil
	if body == nil {
		return nil
	}
	body.Close() // of a read, its error says nothing about the bytes
	return nil
}

func (r *Reader) advance(n int) {
	r.offset += int64(n)
	r.left -= int64(n)
	r.store.meter.moved(0, int64(n))
	if n > 0 {
		r.broken = 0
	}
}

// end is io.EOF if the stream is over where it should be.
func (r *Reader) end() error {
	if r.body == nil || r.offset < r.object.Size {
		return io.EOF
	}
	if n, _ := r.body.Read(make([]byte, 1)); n > 0 {
		return r.fail(ErrCorrupt, fmt.Errorf("the object is longer than its %d bytes", r.object.Size))
	}
	return io.EOF
}

// interrupted decides whether a broken stream is taken up again: nil if so.
func (r *Reader) interrupted(cause error) error {
	r.Close()
	r.broken++
	if err := r.ctx.Err(); err != nil {
		return r.store.wrap(r.op, string(r.object.Key), err)
	}
	short := errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF)
	if !short && !errors.Is(r.store.wrap(r.op, "", cause), ErrUnavailable) {
		return r.store.wrap(r.op, string(r.object.Key), cause)
	}
	if r.object.Version != "" && r.broken < r.store.opts.attempts() {
		if err := r.store.pause(r.ctx, r.broken, cause); err != nil {
			return r.store.wrap(r.op, string(r.object.Key), err)
		}
		return nil
	}
	if short {
		return r.fail(ErrCorrupt, fmt.Errorf("the stream ended %d bytes short of %d", r.left, r.object.Size))
	}
	return r.store.wrap(r.op, string(r.object.Key), cause)
}

// resume asks for the rest after a break.
func (r *Reader) resume() error {
	if r.body != nil {
		return nil
	}
	obj, err := r.request(r.left, r.object.Version)
	if err == nil && obj.Size != r.object.Size {
		r.Close()
		return r.fail(ErrConflict, errors.New("the object was replaced while it was read"))
	}
	return err
}

// request opens the body at the offset.
func (r *Reader) request(length int64, version string) (Object, error) {
	key := r.full[len(r.store.prefix):]
	var obj Object
	_, err := r.store.do(r.ctx, Request{Op: "get", Key: key}, func(ctx context.Context) (err error) {
		r.Close() // what an earlier try opened
		r.body, obj, err = r.store.back.read(ctx, r.full, r.offset, length, version)
		return err
	})
	if err != nil {
		r.body = nil
	}
	return obj, r.store.renamed(r.op, err)
}

// expect takes over what the first response said.
func (r *Reader) expect(key Key, obj Object, length int64) error {
	obj.Key = key
	r.object = obj
	r.left = obj.Size - r.offset
	if r.left < 0 {
		r.Close()
		return r.fail(ErrInvalid, errRange)
	}
	if length >= 0 {
		r.left = min(r.left, length)
	}
	return nil
}

// empty is a range of no bytes, which still wants an object of that version.
func (r *Reader) empty(key Key, version string) error {
	obj, err := r.store.Stat(r.ctx, key)
	if err != nil {
		return err
	}
	if version != "" && obj.Version != version {
		return r.fail(ErrConflict, nil)
	}
	if r.offset > obj.Size {
		return r.fail(ErrInvalid, errRange)
	}
	r.object = obj
	return nil
}

func (r *Reader) fail(kind, cause error) error {
	return &Error{Op: r.op, Key: r.full[len(r.store.prefix):], Kind: kind, Err: cause}
}

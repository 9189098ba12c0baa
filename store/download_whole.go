package store

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// wholeAtMost is up to which size, in bytes, the objects of a tree are fetched
// into a buffer before there is a file for them.
const wholeAtMost = copyBuffer

// errNotWhole says that an object has to go the long way.
var errNotWhole = errors.New("the object has grown")

// downloadInto fetches an object of a tree.
func (m *mover) downloadInto(ctx context.Context, obj Object, to *target, name string) (Transferred, error) {
	if obj.Size > min(wholeAtMost, m.rangeOf(obj.Size)) {
		return m.download(ctx, obj, to.root, name)
	}
	t, err := m.downloadWhole(ctx, obj, to, name)
	switch {
	case errors.Is(err, errNotWhole), errors.Is(err, ErrConflict), isNotExist(err):
		return m.download(ctx, obj, to.root, name) // the object has changed, or a directory has gone
	case err != nil:
		return t, m.failed(string(obj.Key), err)
	}
	m.meter.expect(0, t.Size-obj.Size)
	m.meter.moved(t.Size)
	m.meter.fileDone()
	return t, nil
}

// downloadWhole fetches the object, whichever version it has, and then writes its
// file.
func (m *mover) downloadWhole(ctx context.Context, obj Object, to *target, name string) (t Transferred, err error) {
	if m.opts.Create {
		if _, err := to.root.Lstat(name); err == nil {
			return t, fmt.Errorf("%s: %w", name, ErrExist)
		}
	}
	buffer := m.copies.Get().(*[]byte)
	defer m.copies.Put(buffer)
	body := []byte(nil)
	err = m.at(ctx, 1, func() (err error) {
		t.Object, body, err = m.store.readInto(ctx, obj.Key, *buffer)
		return err
	})
	if err != nil {
		return t, err
	}
	t.CRC32C = crc32c(body)
	return t, to.write(name, body, m.opts.Create)
}

// readInto fetches a whole object into buffer, errNotWhole if it is longer.
func (s *Store) readInto(ctx context.Context, key Key, buffer []byte) (Object, []byte, error) {
	r, err := s.Open(ctx, key)
	if err != nil {
		return Object{}, nil, err
	}
	defer r.Close()
	if r.left > int64(len(buffer)) {
		return r.object, nil, errNotWhole
	}
	body := buffer[:r.left]
	if _, err := io.ReadFull(r, body); err != nil {
		return r.object, nil, err
	}
	if err := r.end(); !errors.Is(err, io.EOF) {
		return r.object, nil, err // it is longer than it said
	}
	return r.object, body, nil
}

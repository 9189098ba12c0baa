package store

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Get returns the whole of an object, of verified length, in one request. It is
// meant for small ones. The error is ErrNotExist if there is none.
func (s *Store) Get(ctx context.Context, key Key) ([]byte, error) {
	for try := 1; ; try++ {
		body, err := s.getOnce(ctx, key)
		// Replaced between two requests of one read: begin again.
		if errors.Is(err, ErrConflict) && try < s.opts.attempts() {
			continue
		}
		return body, err
	}
}

func (s *Store) getOnce(ctx context.Context, key Key) ([]byte, error) {
	if w, ok := s.back.(wholeReader); ok {
		return s.getWhole(ctx, w, key)
	}
	r, err := s.open(ctx, "get", key, 0, -1, "")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	body := make([]byte, r.left)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	// One byte more shows an object that is longer than it said.
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, s.wrap("get", string(key), err)
	}
	return body, nil
}

func (s *Store) getWhole(ctx context.Context, w wholeReader, key Key) (body []byte, err error) {
	full, err := s.full(key)
	if err != nil {
		return nil, s.wrap("get", string(key), err)
	}
	_, err = s.do(ctx, Request{Op: "get", Key: string(key)}, func(ctx context.Context) (err error) {
		body, err = w.readWhole(ctx, full)
		s.meter.moved(0, int64(len(body)))
		return err
	})
	return body, err
}

// Open streams an object. The caller closes the reader.
func (s *Store) Open(ctx context.Context, key Key) (*Reader, error) {
	return s.open(ctx, "open", key, 0, -1, "")
}

// OpenRange streams length bytes of an object from offset on, fewer where it
// ends before, all that follow if length < 0. An offset beyond the end is
// ErrInvalid. If version is not "", the object must still have it, else the
// error is ErrConflict. The caller closes the reader.
func (s *Store) OpenRange(ctx context.Context, key Key, offset, length int64, version string) (*Reader, error) {
	return s.open(ctx, "open", key, offset, length, version)
}

// Stat describes an object without reading it.
func (s *Store) Stat(ctx context.Context, key Key) (Object, error) {
	full, err := s.full(key)
	if err != nil {
		return Object{}, s.wrap("stat", string(key), err)
	}
	var obj Object
	_, err = s.do(ctx, Request{Op: "stat", Key: string(key)}, func(ctx context.Context) (err error) {
		obj, err = s.back.stat(ctx, full)
		return err
	})
	obj.Key = key
	return obj, err
}

// open makes the reader of a range; op names the caller in errors.
func (s *Store) open(ctx context.Context, op string, key Key, offset, length int64, version string) (*Reader, error) {
	full, err := s.full(key)
	if err == nil && offset < 0 {
		err = invalid(fmt.Errorf("the offset is %d", offset))
	}
	if err != nil {
		return nil, s.wrap(op, string(key), err)
	}
	r := &Reader{store: s, ctx: ctx, op: op, full: full, offset: offset}
	if length == 0 {
		return r, r.empty(key, version)
	}
	obj, err := r.request(length, version)
	if errors.Is(err, errRange) {
		return r, r.empty(key, version) // some backends refuse a range that starts at the end
	}
	if err != nil {
		return nil, err
	}
	return r, r.expect(key, obj, length)
}

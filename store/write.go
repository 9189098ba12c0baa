package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
)

// Put stores body under key, replacing what is there in one step: readers see
// the old bytes or the new.
func (s *Store) Put(ctx context.Context, key Key, body []byte) error {
	return s.write(ctx, "put", key, body, condition{})
}

// Create stores body if there is no object of that key, else the error is
// ErrExist. Of several at once exactly one succeeds. Where the answer to a
// request is lost, Create finds out whether it was applied.
func (s *Store) Create(ctx context.Context, key Key, body []byte) error {
	return s.write(ctx, "create", key, body, condition{absent: true})
}

// Replace stores body if the object still has that version, as Stat or a Reader
// told it, else the error is ErrConflict, also where the object is gone. It is
// ErrUnsupported where Capabilities().Replace is false.
//
// On S3 a version is a hash of the content, so that a body which returns to an
// earlier one cannot be told from it; give each body something new.
func (s *Store) Replace(ctx context.Context, key Key, body []byte, version string) error {
	switch {
	case !s.Capabilities().Replace:
		return &Error{Op: "replace", Key: string(key), Kind: ErrUnsupported}
	case version == "":
		return &Error{Op: "replace", Key: string(key), Kind: ErrInvalid, Err: errors.New("the version is empty")}
	}
	err := s.write(ctx, "replace", key, body, condition{version: version})
	if errors.Is(err, ErrNotExist) {
		return &Error{Op: "replace", Key: string(key), Kind: ErrConflict, Err: errors.New("the object is gone")}
	}
	return err
}

// write is one conditional or plain write of a whole body.
func (s *Store) write(ctx context.Context, op string, key Key, body []byte, cond condition) error {
	full, err := s.full(key)
	if err != nil {
		return s.wrap(op, string(key), err)
	}
	_, err = s.writeBody(ctx, op, key, full, body, cond)
	return err
}

// writeBody does so under a key that was checked. Where the answer was lost, the
// Object has no version.
func (s *Store) writeBody(ctx context.Context, op string, key Key, full string, body []byte, cond condition) (Object, error) {
	if !cond.none() {
		cond.id = newWriteID()
	}
	var obj Object
	r := Request{Op: requestOp(cond), Key: string(key), Bytes: int64(len(body))}
	unsure, err := s.do(ctx, r, func(ctx context.Context) (err error) {
		obj, err = s.back.write(ctx, full, body, cond)
		return cond.refused(err)
	})
	obj.Key = key
	refused := errors.Is(err, ErrExist) || errors.Is(err, ErrConflict)
	if unsure && refused && s.wrote(ctx, key, full, body, cond.id) {
		return Object{Key: key, Size: int64(len(body))}, nil
	}
	return obj, s.renamed(op, err)
}

// wrote reports whether the object is the one that an earlier try of ours left,
// whose answer was lost: by the id it carries, else by its bytes.
func (s *Store) wrote(ctx context.Context, key Key, full string, body []byte, id string) bool {
	m, ok := s.back.(marked)
	if !ok {
		found, err := s.Get(ctx, key)
		return err == nil && bytes.Equal(found, body)
	}
	var found string
	_, err := s.do(ctx, Request{Op: "stat", Key: string(key)}, func(ctx context.Context) (err error) {
		found, err = m.writeID(ctx, full)
		return err
	})
	return err == nil && found == id
}

func requestOp(c condition) string {
	if c.absent {
		return "create"
	}
	return "put"
}

// newWriteID marks one write among all of all time.
func newWriteID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

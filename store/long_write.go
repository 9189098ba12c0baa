package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// abortTimeout bounds the cleaning up after a write whose context may have ended.
const abortTimeout = 30 * time.Second

// longWrite is one object on its way in parts.
type longWrite struct {
	store *Store
	back  parted
	key   Key
	full  string    // the backend's key
	token string    // of the upload, once begun
	cond  condition // with the id that the object is marked with
	// resumed says that an earlier process began it, and may have ended it too.
	resumed bool
	// lost is when a begin was tried whose answer never came, nil if each came.
	lost *span

	mu    sync.Mutex   // guards parts
	parts map[int]part // by number
}

func (s *Store) newLongWrite(back parted, key Key, full string, create bool) *longWrite {
	cond := condition{absent: create, id: newWriteID()}
	return &longWrite{store: s, back: back, key: key, full: full, cond: cond, parts: map[int]part{}}
}

// begin opens the upload. Where it fails, abort is to be called all the same.
func (w *longWrite) begin(ctx context.Context) error {
	start := time.Now()
	unsure, err := w.store.do(ctx, Request{Op: "begin", Key: string(w.key)}, func(ctx context.Context) (err error) {
		w.token, err = w.back.begin(ctx, w.full, w.cond.id)
		return err
	})
	if unsure || err != nil && (isEnded(err) || errors.Is(err, ErrUnavailable)) {
		w.lost = &span{from: start, to: time.Now()}
	}
	return err
}

// send stores part n, at offset of the object. sum gives its CRC-32C where the
// backend does not find that out itself.
func (w *longWrite) send(ctx context.Context, n int, offset int64, body *io.SectionReader, sum func() (uint32, error)) (part, error) {
	place, places := w.back.(placer)
	crc := uint32(0)
	if !places {
		var err error
		if crc, err = sum(); err != nil {
			return part{}, err
		}
	}
	p := part{size: body.Size(), crc: crc}
	r := Request{Op: "part", Key: string(w.key), Bytes: p.size}
	_, err := w.store.do(ctx, r, func(ctx context.Context) (err error) {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if places {
			p.crc, err = place.partAt(ctx, w.full, w.token, offset, body)
			return err
		}
		p.tag, err = w.back.part(ctx, w.full, w.token, n, body, crc)
		return err
	})
	if err == nil {
		w.add(n, p)
	}
	return p, err
}

// add notes a part that arrived.
func (w *longWrite) add(n int, p part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts[n] = p
}

// inOrder gives the parts by their numbers.
func (w *longWrite) inOrder() ([]part, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]part, len(w.parts))
	for i := range list {
		p, ok := w.parts[i]
		if !ok {
			return nil, fmt.Errorf("part %d of %d never arrived", i, len(list))
		}
		list[i] = p
	}
	return list, nil
}

// complete publishes the object. Where an earlier try did so and its answer was
// lost, it finds that out.
func (w *longWrite) complete(ctx context.Context) (Object, error) {
	list, err := w.inOrder()
	if err != nil {
		return Object{}, w.store.wrap("put", string(w.key), err)
	}
	var obj Object
	unsure, err := w.store.do(ctx, Request{Op: "complete", Key: string(w.key)}, func(ctx context.Context) (err error) {
		obj, err = w.back.complete(ctx, w.full, w.token, list, w.cond)
		return w.cond.refused(err)
	})
	lost := errors.Is(err, ErrExist) || errors.Is(err, ErrConflict) || errors.Is(err, ErrNotExist)
	if (unsure || w.resumed) && lost {
		if found, ok := w.published(ctx, list); ok {
			obj, err = found, nil
		}
	}
	obj.Key = w.key
	return obj, err
}

// published tells whether the object is ours: by the id it carries, else by its
// bytes.
func (w *longWrite) published(ctx context.Context, parts []part) (Object, bool) {
	obj, err := w.store.Stat(ctx, w.key)
	if err != nil {
		return obj, false
	}
	m, ok := w.store.back.(marked)
	if !ok {
		crc, size := crcOfParts(parts)
		found, err := w.store.crcOf(ctx, obj)
		return obj, err == nil && obj.Size == size && found == crc
	}
	var id string
	_, err = w.store.do(ctx, Request{Op: "stat", Key: string(w.key)}, func(ctx context.Context) (err error) {
		id, err = m.writeID(ctx, w.full)
		return err
	})
	return obj, err == nil && id == w.cond.id
}

// crcOf reads an object for its CRC-32C.
func (s *Store) crcOf(ctx context.Context, obj Object) (uint32, error) {
	r, err := s.OpenRange(ctx, obj.Key, 0, -1, obj.Version)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	sum := crcWriter{}
	_, err = io.Copy(&sum, r)
	return sum.crc, err
}

// crcWriter sums up what is written to it.
type crcWriter struct{ crc uint32 }

func (w *crcWriter) Write(p []byte) (int, error) {
	w.crc = addCRC(w.crc, p)
	return len(p), nil
}

// abort frees what was sent, also when ctx has ended.
func (w *longWrite) abort(ctx context.Context) error {
	w.dropLost(ctx)
	if w.token == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	return w.store.abortUpload(ctx, w.back, w.key, w.full, w.token)
}

func (s *Store) abortUpload(ctx context.Context, back parted, key Key, full, token string) error {
	_, err := s.do(ctx, Request{Op: "abort", Key: string(key)}, func(ctx context.Context) error {
		return back.abort(ctx, full, token)
	})
	if isNotExist(err) {
		return nil
	}
	return err
}

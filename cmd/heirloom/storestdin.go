package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// putStream stores stdin. With --create it is kept in a file before, since only files are created.
func (t *transfer) putStream(ctx context.Context, p parcel) (store.Object, error) {
	in := newStream(ctx, t.app.stdin, cmp.Or(t.app.lastWord, lastWord), t.display.Update)
	if !t.options.Create {
		object, err := p.to.store.PutFrom(ctx, p.to.key, in, -1)
		in.end()
		return object, err
	}
	f, err := os.CreateTemp("", "heirloom-put-*")
	if err != nil {
		return store.Object{}, err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, in)
	if err = errors.Join(err, f.Close()); err != nil {
		return store.Object{}, err
	}
	done, err := p.to.store.Upload(ctx, f.Name(), p.to.key, &t.options)
	return done.Object, err
}

// stream is stdin, which ends with its context and shows how much of it was read.
type stream struct {
	ctx     context.Context // a stream is one operation
	r       *io.PipeReader
	n       int64
	doubt   time.Duration // of its end
	display func(store.Progress)
}

// newStream reads from in. A read of stdin cannot be broken off, so that the goroutine may stay behind in one.
func newStream(ctx context.Context, in io.Reader, doubt time.Duration, display func(store.Progress)) *stream {
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { r.CloseWithError(ctx.Err()) })
	return &stream{ctx: ctx, r: r, doubt: doubt, display: display}
}

// lastWord is how long the end of a stream is doubted: Ctrl-C ends a whole pipeline, and the program in front of us may
// be gone before the signal is here. Half of what it meant to say must not become an object.
const lastWord = 100 * time.Millisecond

// Read is io.Reader's.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.n += int64(n)
	s.display(store.Progress{Bytes: s.n})
	if errors.Is(err, io.EOF) {
		select {
		case <-s.ctx.Done():
		case <-time.After(s.doubt):
		}
	}
	if s.ctx.Err() != nil {
		return n, s.ctx.Err()
	}
	return n, err
}

func (s *stream) end() {
	s.display(store.Progress{Files: 1, FilesTotal: 1, Bytes: s.n, BytesTotal: s.n})
}

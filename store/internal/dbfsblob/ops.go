package dbfsblob

import (
	"context"
	"errors"
	"io"
	"path"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// Stat describes the object at key.
func (b *Bucket) Stat(ctx context.Context, key string) (dirtree.Object, error) {
	o, err := b.api.stat(ctx, b.Path(key))
	o.Key = key
	return o, wrap("stat", b.Path(key), err)
}

// Reader streams one range of one version. It is used by one goroutine.
type Reader struct {
	body   io.ReadCloser
	path   string
	object dirtree.Object
}

// Open reads length bytes of the object from offset on, to the end if length < 0. With a version other than "" the error
// is ErrConflict if the object has another; ErrRange if offset lies behind its end. The caller closes the Reader.
func (b *Bucket) Open(ctx context.Context, key string, offset, length int64, version string) (*Reader, error) {
	body, o, err := b.api.open(ctx, b.Path(key), offset, length, version)
	if err != nil {
		return nil, wrap("read", b.Path(key), err)
	}
	o.Key = key
	return &Reader{body: body, path: b.Path(key), object: o}, nil
}

// Object describes what is read; its Size is that of the whole.
func (r *Reader) Object() dirtree.Object { return r.object }

// Read is io.Reader's. ErrConflict tells that the object was replaced meanwhile.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = wrap("read", r.path, err)
	}
	return n, err
}

// Close ends the request.
func (r *Reader) Close() error { return r.body.Close() }

// Put replaces the object at key. See the package on what a reader may meet meanwhile.
func (b *Bucket) Put(ctx context.Context, key string, body []byte) error {
	return b.write(ctx, key, body, dirtree.Replace)
}

// Create makes the object at key, or fails with fs.ErrExist.
func (b *Bucket) Create(ctx context.Context, key string, body []byte) error {
	return b.write(ctx, key, body, dirtree.Create)
}

func (b *Bucket) write(ctx context.Context, key string, body []byte, mode dirtree.Mode) error {
	if key == "" {
		return dirtree.NoKey(b.root)
	}
	b.sweepOnce(ctx)
	return wrap("write", b.Path(key), b.api.write(ctx, b.Path(key), body, mode))
}

// PutStream stores all of r under key, or nothing if reading it fails, and returns the bytes. A stream cannot be sent
// again: a connection that breaks fails it.
func (b *Bucket) PutStream(ctx context.Context, key string, r io.Reader, mode dirtree.Mode) (int64, error) {
	if key == "" {
		return 0, dirtree.NoKey(b.root)
	}
	b.sweepOnce(ctx)
	source := &source{r: r}
	size, err := b.api.stream(ctx, b.Path(key), source, mode)
	if source.err != nil {
		return 0, source.err // why the request failed
	}
	return size, wrap("write", b.Path(key), err)
}

// source marks the errors of a caller's reader, so that they are not taken for those of a connection, and counts.
type source struct {
	r    io.Reader
	size int64
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.size += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
		err = sourceError{err}
	}
	return n, err
}

// Remove deletes the object, and with it the directories that it leaves empty, up to that of the bucket. The error is
// fs.ErrNotExist if there is none.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	file := b.Path(key)
	if err := b.api.remove(ctx, file); err != nil {
		return wrap("delete", file, err)
	}
	b.prune(ctx, path.Dir(file))
	return nil
}

// prune removes dir and those above it while they are empty; the workspace refuses for one that is not.
func (b *Bucket) prune(ctx context.Context, dir string) {
	for dir := range dirtree.Above(dir, b.root) {
		if b.api.removeDir(ctx, dir) != nil {
			return
		}
	}
}

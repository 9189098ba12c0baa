package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/hdfsblob"
)

// hdfsBackend is a directory in HDFS.
type hdfsBackend struct {
	bucket *hdfsblob.Bucket
	opts   HDFSOptions
}

// capabilities: the DataNodes check each packet against a checksum of ours. The
// NameNode knows no compare-and-swap.
func (b *hdfsBackend) capabilities() Capabilities {
	return Capabilities{AtomicCreate: true, AtomicPut: true, Durable: b.bucket.Durable(), ServerChecksum: true}
}

func (b *hdfsBackend) endpoint() string { return b.bucket.Authority() }

func (b *hdfsBackend) close() error { return b.bucket.Close() }

func (b *hdfsBackend) stat(ctx context.Context, key string) (Object, error) {
	o, err := b.bucket.Stat(ctx, key)
	return hdfsObject(o), hdfsError(err)
}

func (b *hdfsBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	r, err := b.bucket.Open(ctx, key, offset, length, version)
	if err != nil {
		return nil, Object{}, hdfsError(err)
	}
	return hdfsReader{r}, hdfsObject(r.Object()), nil
}

type hdfsReader struct{ *hdfsblob.Reader }

func (r hdfsReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = hdfsError(err)
	}
	return n, err
}

func (b *hdfsBackend) write(ctx context.Context, key string, body []byte, cond condition) (o Object, err error) {
	var made hdfsblob.Object
	switch {
	case cond.version != "":
		return Object{}, ErrUnsupported
	case cond.absent:
		made, err = b.bucket.Create(ctx, key, body, cond.id)
	default:
		made, err = b.bucket.Put(ctx, key, body)
	}
	return hdfsObject(made), hdfsError(err)
}

// writeID knows only the writes whose answer was lost, which is where it is
// asked for.
func (b *hdfsBackend) writeID(ctx context.Context, key string) (string, error) {
	id, err := b.bucket.WriteID(ctx, key)
	return id, hdfsError(err)
}

func (b *hdfsBackend) remove(ctx context.Context, key string) error {
	return hdfsError(b.bucket.Delete(ctx, key, nil))
}

// pages walks the tree and cuts the walk into pages; a directory is one request
// or more of the NameNode's own size.
func (b *hdfsBackend) pages(prefix, delimiter string) pager {
	return &walkPager{walk: func(ctx context.Context) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			if delimiter != "" {
				for e, err := range b.bucket.ReadDir(ctx, strings.TrimSuffix(prefix, "/")) {
					if !yield(Entry{Object: hdfsObject(e.Object), IsDir: e.IsDir}, hdfsError(err)) {
						return
					}
				}
				return
			}
			for o, err := range b.bucket.Walk(ctx, prefix) {
				if !yield(Entry{Object: hdfsObject(o)}, hdfsError(err)) {
					return
				}
			}
		}
	}}
}

func hdfsObject(o hdfsblob.Object) Object {
	if o.Key == "" {
		return Object{}
	}
	return Object{Key: Key(o.Key), Size: o.Size, Modified: o.ModTime, Version: o.Version}
}

// hdfsError gives an error of package hdfsblob our kind, without the verb and
// the path, which are not those of the caller, and leaves others.
func hdfsError(err error) error {
	e, ok := errors.AsType[*hdfsblob.Error](err)
	if !ok {
		return err
	}
	if e.Err != nil {
		err = briefError{e.Err.Error(), e}
	}
	for _, known := range []struct{ theirs, ours error }{
		{hdfsblob.ErrUnavailable, ErrUnavailable},
		{hdfsblob.ErrNoSpace, ErrNoSpace},
		{hdfsblob.ErrCorrupt, ErrCorrupt},
		{hdfsblob.ErrConflict, ErrConflict},
		{errors.ErrUnsupported, ErrUnsupported},
		{ErrNotExist, ErrNotExist},
		{ErrExist, ErrExist},
		{ErrPermission, ErrPermission},
		{ErrInvalid, ErrInvalid},
	} {
		if errors.Is(e.Kind, known.theirs) {
			return &Error{Kind: known.ours, Err: err}
		}
	}
	return err
}

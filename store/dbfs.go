package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/dbfsblob"
)

// dbfsBackend is a directory in DBFS or a volume, over REST.
type dbfsBackend struct {
	bucket *dbfsblob.Bucket
}

// capabilities: what the public description of the APIs does not promise is not promised
// here. A volume takes a file and the condition on it in one request; DBFS does not say
// that a move looks and moves in one step, nor how a put replaces.
func (b *dbfsBackend) capabilities() Capabilities {
	return Capabilities{AtomicCreate: b.bucket.Volume(), AtomicPut: b.bucket.Volume(), CoarseVersion: true}
}

func (b *dbfsBackend) endpoint() string { return b.bucket.Host() }

func (b *dbfsBackend) close() error { return b.bucket.Close() }

func (b *dbfsBackend) stat(ctx context.Context, key string) (Object, error) {
	o, err := b.bucket.Stat(ctx, key)
	return dbfsObject(o), dbfsError(err)
}

func (b *dbfsBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	r, err := b.bucket.Open(ctx, key, offset, length, version)
	if err != nil {
		return nil, Object{}, dbfsError(err)
	}
	return dbfsReader{r}, dbfsObject(r.Object()), nil
}

type dbfsReader struct{ *dbfsblob.Reader }

func (r dbfsReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = dbfsError(err)
	}
	return n, err
}

func (b *dbfsBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	write := b.bucket.Put
	if cond.absent {
		write = b.bucket.Create
	}
	return Object{Key: Key(key), Size: int64(len(body))}, dbfsError(write(ctx, key, body))
}

func (b *dbfsBackend) stream(ctx context.Context, key string, r io.Reader, absent bool, send sendFunc) (Object, error) {
	obj, mode := Object{Key: Key(key)}, dbfsblob.Replace
	if absent {
		mode = dbfsblob.Create
	}
	err := send(ctx, 0, false, func(ctx context.Context) (err error) {
		obj.Size, err = b.bucket.PutStream(ctx, key, r, mode)
		return dbfsError(err)
	})
	return obj, err
}

func (b *dbfsBackend) remove(ctx context.Context, key string) error {
	return dbfsError(b.bucket.Remove(ctx, key))
}

// pages walks the tree and cuts the walk into pages; a directory is one request, in a
// volume one for each 1,000 names.
func (b *dbfsBackend) pages(prefix, delimiter string) pager {
	return &walkPager{walk: func(ctx context.Context) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			if delimiter != "" {
				for e, err := range b.bucket.ReadDir(ctx, strings.TrimSuffix(prefix, "/")) {
					if !yield(Entry{Object: dbfsObject(e.Object), IsDir: e.IsDir}, dbfsError(err)) {
						return
					}
				}
				return
			}
			for o, err := range b.bucket.Walk(ctx, prefix) {
				if !yield(Entry{Object: dbfsObject(o)}, dbfsError(err)) {
					return
				}
			}
		}
	}}
}

// fsspec: Python's client wants the workspace and a token, which is secret and comes from
// the user.
func (b *dbfsBackend) fsspec() []Setting {
	_, instance, _ := strings.Cut(b.bucket.Host(), "://")
	return []Setting{{"instance", instance}}
}

func dbfsObject(o dbfsblob.Object) Object {
	if o.Key == "" {
		return Object{}
	}
	return Object{Key: Key(o.Key), Size: o.Size, Modified: o.ModTime, Version: o.Version}
}

// dbfsError gives an error of package dbfsblob our kind, without the verb and the path,
// which are not those of the caller, and leaves others.
func dbfsError(err error) error {
	e, ok := errors.AsType[*dbfsblob.Error](err)
	if !ok {
		return err
	}
	if e.Err != nil {
		err = briefError{e.Err.Error(), e}
	}
	if errors.Is(e.Kind, dbfsblob.ErrRange) {
		return fmt.Errorf("%w: %w", errRange, err)
	}
	for _, known := range []struct{ theirs, ours error }{
		{dbfsblob.ErrUnavailable, ErrUnavailable},
		{dbfsblob.ErrNoSpace, ErrNoSpace},
		{dbfsblob.ErrCorrupt, ErrCorrupt},
		{dbfsblob.ErrConflict, ErrConflict},
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

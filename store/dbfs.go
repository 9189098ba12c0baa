package store

import (
	"context"
	"io"
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
	return treeObject(o), treeError(err)
}

func (b *dbfsBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	r, err := b.bucket.Open(ctx, key, offset, length, version)
	if err != nil {
		return nil, Object{}, treeError(err)
	}
	return treeReader{r}, treeObject(r.Object()), nil
}

func (b *dbfsBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	write := b.bucket.Put
	if cond.absent {
		write = b.bucket.Create
	}
	return Object{Key: Key(key), Size: int64(len(body))}, treeError(write(ctx, key, body))
}

func (b *dbfsBackend) stream(ctx context.Context, key string, r io.Reader, absent bool, send sendFunc) (Object, error) {
	obj := Object{Key: Key(key)}
	err := send(ctx, 0, false, func(ctx context.Context) (err error) {
		obj.Size, err = b.bucket.PutStream(ctx, key, r, treeMode(absent))
		return treeError(err)
	})
	return obj, err
}

func (b *dbfsBackend) remove(ctx context.Context, key string) error {
	return treeError(b.bucket.Remove(ctx, key))
}

// pages: a directory is one request, in a volume one for each 1,000 names.
func (b *dbfsBackend) pages(prefix, delimiter, after string) pager {
	return treePages(b.bucket, prefix, delimiter, after)
}

// fsspec: Python's client wants the workspace and a token, which is secret and comes from
// the user. It speaks https alone, and to its name of the workspace.
func (b *dbfsBackend) fsspec() []Setting {
	return []Setting{{"instance", strings.TrimPrefix(b.bucket.Host(), "https://")}}
}

package store

import (
	"context"
	"io"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
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
	return treeObject(o), treeError(err)
}

func (b *hdfsBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	r, err := b.bucket.Open(ctx, key, offset, length, version)
	if err != nil {
		return nil, Object{}, treeError(err)
	}
	return treeReader{r}, treeObject(r.Object()), nil
}

func (b *hdfsBackend) write(ctx context.Context, key string, body []byte, cond condition) (o Object, err error) {
	var made dirtree.Object
	switch {
	case cond.version != "":
		return Object{}, ErrUnsupported
	case cond.absent:
		made, err = b.bucket.Create(ctx, key, body, cond.id)
	default:
		made, err = b.bucket.Put(ctx, key, body)
	}
	return treeObject(made), treeError(err)
}

// writeID knows only the writes whose answer was lost, which is where it is
// asked for.
func (b *hdfsBackend) writeID(ctx context.Context, key string) (string, error) {
	id, err := b.bucket.WriteID(ctx, key)
	return id, treeError(err)
}

func (b *hdfsBackend) remove(ctx context.Context, key string) error {
	return treeError(b.bucket.Delete(ctx, key, nil))
}

// pages: a directory is one request or more of the NameNode's own size.
func (b *hdfsBackend) pages(prefix, delimiter, after string) pager {
	return treePages(b.bucket, prefix, delimiter, after)
}

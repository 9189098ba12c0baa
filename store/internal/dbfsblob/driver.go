package dbfsblob

import (
	"context"
	"errors"
	"io"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

var _ driver.Bucket = (*Bucket)(nil)

// As implements driver.Bucket; i may be a **Bucket.
func (b *Bucket) As(i any) bool { return dirtree.As(b, i) }

// Attributes implements driver.Bucket. There is no MD5.
func (b *Bucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	o, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	set, err := b.readAttributes(ctx, key, o)
	if err != nil {
		return nil, err
	}
	return set.Driver(o.ModTime, o.Size, o.Version), nil
}

// NewRangeReader implements driver.Bucket; Reader.As takes a **Reader, BeforeRead nothing.
func (b *Bucket) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	if err := dirtree.Before(opts.BeforeRead, dirtree.NoAs); err != nil {
		return nil, err
	}
	if length == 0 {
		return b.emptyReader(ctx, key)
	}
	r, err := b.Open(ctx, key, offset, length, "")
	if err != nil {
		return nil, err
	}
	return b.rangeReader(ctx, r)
}

// emptyReader is for a range without bytes, which HTTP cannot ask for.
func (b *Bucket) emptyReader(ctx context.Context, key string) (driver.Reader, error) {
	o, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	return b.rangeReader(ctx, &Reader{body: io.NopCloser(eof{}), path: b.Path(key), object: o})
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

func (b *Bucket) rangeReader(ctx context.Context, r *Reader) (driver.Reader, error) {
	set, err := b.readAttributes(ctx, r.object.Key, r.object)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return dirtree.NewReader(r, r.object, set.ContentType, func(i any) bool { return dirtree.As(r, i) }), nil
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes nothing.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	if err := dirtree.Before(opts.BeforeWrite, dirtree.NoAs); err != nil {
		return nil, err
	}
	return b.newWriter(ctx, key, attrs.New(contentType, opts), dirtree.ModeOf(opts)), nil
}

// writer hands what is written to a PutStream in a goroutine, which Close waits for.
type writer struct {
	bucket *Bucket
	ctx    context.Context // of the one write that a writer is; gocloud's interface gives it here and nowhere else
	key    string
	attrs  attrs.Set
	mode   dirtree.Mode
	pipe   *io.PipeWriter
	done   chan error // gets the outcome once
}

func (b *Bucket) newWriter(ctx context.Context, key string, set attrs.Set, mode dirtree.Mode) *writer {
	r, w := io.Pipe()
	out := &writer{bucket: b, ctx: ctx, key: key, attrs: set, mode: mode, pipe: w, done: make(chan error, 1)}
	go func() {
		_, err := b.PutStream(ctx, key, r, mode)
		r.CloseWithError(err) // so that Write does not wait for a reader that is gone
		out.done <- err
	}()
	return out
}

func (w *writer) Write(p []byte) (int, error) { return w.pipe.Write(p) }

// Close publishes the object. A context that has been cancelled drops the write instead.
func (w *writer) Close() error {
	w.pipe.CloseWithError(w.ctx.Err()) // nil is the end of the object
	if err := <-w.done; err != nil {
		return dirtree.Refused(w.mode, err)
	}
	return w.bucket.writeAttributes(w.ctx, w.key, w.attrs)
}

// Copy implements driver.Bucket. The bytes pass through this process.
func (b *Bucket) Copy(ctx context.Context, dstKey, srcKey string, opts *driver.CopyOptions) error {
	r, err := b.Open(ctx, srcKey, 0, -1, "")
	if err != nil {
		return err
	}
	defer r.Close()
	set, err := b.readAttributes(ctx, srcKey, r.object)
	if err == nil {
		err = dirtree.Before(opts.BeforeCopy, dirtree.NoAs)
	}
	if err == nil {
		_, err = b.PutStream(ctx, dstKey, r, dirtree.Replace)
	}
	if err != nil {
		return err
	}
	return b.writeAttributes(ctx, dstKey, set)
}

// Delete implements driver.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string, opts *driver.DeleteOptions) error {
	if opts != nil {
		if err := dirtree.Before(opts.BeforeDelete, dirtree.NoAs); err != nil {
			return err
		}
	}
	if err := b.Remove(ctx, key); err != nil {
		return err
	}
	return b.removeAttributes(ctx, key)
}

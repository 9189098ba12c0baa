package localblob

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
	f, o, err := b.OpenFile(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := readAttributes(f)
	if err != nil {
		return nil, err
	}
	return a.Driver(o.ModTime, o.Size, o.Version), nil
}

// NewRangeReader implements driver.Bucket; BeforeRead and Reader.As take an **os.File.
func (b *Bucket) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	f, o, err := b.OpenFile(ctx, key)
	if err != nil {
		return nil, err
	}
	as := func(i any) bool { return dirtree.As(f, i) }
	err = dirtree.Before(opts.BeforeRead, as)
	a := attrs.Set{}
	if err == nil {
		a, err = readAttributes(f)
	}
	if err == nil && offset > 0 {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &rangeReader{ctx: ctx, rest: f, Closer: f}
	if length >= 0 {
		r.rest = io.LimitReader(f, length)
	}
	return dirtree.NewReader(r, o, a.ContentType, as), nil
}

type rangeReader struct {
	ctx  context.Context // of the one reading that it serves
	rest io.Reader
	io.Closer
}

func (r *rangeReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.rest.Read(p)
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes an **os.File, the temporary file.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return nil, err
	}
	w.attrs = attrs.New(contentType, opts)
	return dirtree.NewWriter(w, opts, func(i any) bool { return dirtree.As(w.file, i) })
}

// Copy implements driver.Bucket.
func (b *Bucket) Copy(ctx context.Context, dstKey, srcKey string, opts *driver.CopyOptions) error {
	f, _, err := b.OpenFile(ctx, srcKey)
	if err != nil {
		return err
	}
	defer f.Close()
	set, err := readAttributes(f)
	if err != nil {
		return err
	}
	w, err := b.NewWriter(ctx, dstKey)
	if err != nil {
		return err
	}
	w.attrs = set
	return dirtree.Copy(w, f, opts)
}

// Delete implements driver.Bucket; opts may be nil. The object is gone for good when it returns, and with it the
// directories that it leaves empty.
func (b *Bucket) Delete(ctx context.Context, key string, opts *driver.DeleteOptions) error {
	if opts != nil {
		if err := dirtree.Before(opts.BeforeDelete, dirtree.NoAs); err != nil {
			return err
		}
	}
	return b.remove(ctx, key)
}

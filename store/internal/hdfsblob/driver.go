package hdfsblob

import (
	"context"
	"errors"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

var _ driver.Bucket = (*Bucket)(nil)

// As implements driver.Bucket; i may be a **Bucket.
func (b *Bucket) As(i any) bool { return dirtree.As(b, i) }

// Attributes implements driver.Bucket. There is no MD5.
func (b *Bucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	var o inode
	var a attrs.Set
	path := b.Path(key)
	err := b.with(ctx, "stat", path, func(c *client) (err error) {
		if o, err = c.statFile(path); err != nil {
			return err
		}
		stored, err := c.attributes(path)
		if err != nil {
			return err
		}
		a, err = parseAttributes(stored)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a.Driver(o.ModTime, o.Size, o.Version), nil
}

// NewRangeReader implements driver.Bucket; Reader.As takes an **hdfs.FileReader, BeforeRead nothing.
func (b *Bucket) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	if err := dirtree.Before(opts.BeforeRead, dirtree.NoAs); err != nil {
		return nil, err
	}
	r, err := b.open(ctx, key, offset, length, "", true)
	if err != nil {
		return nil, err
	}
	a, err := parseAttributes(r.attrs)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return dirtree.NewReader(r, r.Object(), a.ContentType, func(i any) bool { return dirtree.As(r.file, i) }), nil
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes an **hdfs.FileWriter, of the temporary file.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return nil, err
	}
	w.attrs = storedAttributes(attrs.New(contentType, opts))
	return dirtree.NewWriter(w, opts, func(i any) bool { return dirtree.As(w.file, i) })
}

// Copy implements driver.Bucket. HDFS copies nothing by itself.
func (b *Bucket) Copy(ctx context.Context, dstKey, srcKey string, opts *driver.CopyOptions) error {
	r, err := b.open(ctx, srcKey, 0, -1, "", true)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := b.NewWriter(ctx, dstKey)
	if err != nil {
		return err
	}
	w.attrs = r.attrs
	return dirtree.Copy(w, r, opts)
}

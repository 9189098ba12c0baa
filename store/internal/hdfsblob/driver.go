package hdfsblob

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/colinmarc/hdfs/v2"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
)

var _ driver.Bucket = (*Bucket)(nil)

func noAs(any) bool { return false }

// errPrecondition marks a failed IfNotExist.
var errPrecondition = errors.New("precondition failed")

// ErrorCode implements driver.Bucket.
func (b *Bucket) ErrorCode(err error) gcerrors.ErrorCode {
	for _, known := range []struct {
		err  error
		code gcerrors.ErrorCode
	}{
		{errPrecondition, gcerrors.FailedPrecondition},
		{fs.ErrNotExist, gcerrors.NotFound},
		{fs.ErrExist, gcerrors.AlreadyExists},
		{fs.ErrPermission, gcerrors.PermissionDenied},
		{fs.ErrInvalid, gcerrors.InvalidArgument},
		{ErrNoSpace, gcerrors.ResourceExhausted},
		{ErrConflict, gcerrors.FailedPrecondition},
		{errors.ErrUnsupported, gcerrors.Unimplemented},
		{context.Canceled, gcerrors.Canceled},
		{context.DeadlineExceeded, gcerrors.DeadlineExceeded},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return gcerrors.Unknown
}

// As implements driver.Bucket; i may be a **Bucket.
func (b *Bucket) As(i any) bool {
	p, ok := i.(**Bucket)
	if ok {
		*p = b
	}
	return ok
}

// ErrorAs implements driver.Bucket; i may be a **Error.
func (b *Bucket) ErrorAs(err error, i any) bool {
	p, ok := i.(**Error)
	return ok && errors.As(err, p)
}

// Attributes implements driver.Bucket. There is no MD5.
func (b *Bucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	var o Object
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
	if opts.BeforeRead != nil {
		if err := opts.BeforeRead(noAs); err != nil {
			return nil, err
		}
	}
	r, err := b.open(ctx, key, offset, length, "", true)
	if err != nil {
		return nil, err
	}
	a, err := parseAttributes(r.attrs)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	o := r.Object()
	return &rangeReader{r, driver.ReaderAttributes{ContentType: a.ContentType, ModTime: o.ModTime, Size: o.Size}}, nil
}

type rangeReader struct {
	*Reader
	attributes driver.ReaderAttributes
}

func (r *rangeReader) Attributes() *driver.ReaderAttributes { return &r.attributes }

func (r *rangeReader) As(i any) bool {
	p, ok := i.(**hdfs.FileReader)
	if ok {
		*p = r.file
	}
	return ok
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes an **hdfs.FileWriter, of the temporary file.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return nil, err
	}
	w.attrs = storedAttributes(attrs.New(contentType, opts))
	tw := &typedWriter{Writer: w}
	if opts.IfNotExist {
		tw.mode = Create
	}
	if opts.BeforeWrite != nil {
		if err := opts.BeforeWrite(tw.as); err != nil {
			return nil, errors.Join(err, w.Abort())
		}
	}
	return tw, nil
}

type typedWriter struct {
	*Writer
	mode Mode
}

func (w *typedWriter) as(i any) bool {
	p, ok := i.(**hdfs.FileWriter)
	if ok {
		*p = w.file
	}
	return ok
}

// Close commits. A context that has been cancelled drops the write instead.
func (w *typedWriter) Close() error {
	_, err := w.Commit(w.mode)
	if w.mode == Create && errors.Is(err, fs.ErrExist) {
		return errors.Join(errPrecondition, err)
	}
	return err
}

// Copy implements driver.Bucket. The bytes pass through this process: HDFS copies nothing by itself.
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
	if opts.BeforeCopy != nil {
		err = opts.BeforeCopy(noAs)
	}
	if err == nil {
		_, err = io.Copy(w, r)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	_, err = w.Commit(Replace)
	return err
}

// SignedURL implements driver.Bucket; there are none.
func (b *Bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

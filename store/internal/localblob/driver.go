package localblob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

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

// ErrorAs implements driver.Bucket; i may be what errors.As takes for an *fs.PathError.
func (b *Bucket) ErrorAs(err error, i any) bool {
	p, ok := i.(**fs.PathError)
	return ok && errors.As(err, p)
}

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
	r := &rangeReader{ctx: ctx, file: f, rest: f}
	if opts.BeforeRead != nil {
		err = opts.BeforeRead(r.As)
	}
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
	if length >= 0 {
		r.rest = io.LimitReader(f, length)
	}
	r.attrs = driver.ReaderAttributes{ContentType: a.ContentType, ModTime: o.ModTime, Size: o.Size}
	return r, nil
}

type rangeReader struct {
	ctx   context.Context
	file  *os.File
	rest  io.Reader
	attrs driver.ReaderAttributes
}

func (r *rangeReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.rest.Read(p)
}

func (r *rangeReader) Close() error                         { return r.file.Close() }
func (r *rangeReader) Attributes() *driver.ReaderAttributes { return &r.attrs }

func (r *rangeReader) As(i any) bool {
	p, ok := i.(**os.File)
	if ok {
		*p = r.file
	}
	return ok
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes an **os.File, the temporary file.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return nil, err
	}
	w.attrs = attrs.New(contentType, opts)
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
	p, ok := i.(**os.File)
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

// Copy implements driver.Bucket.
func (b *Bucket) Copy(ctx context.Context, dstKey, srcKey string, opts *driver.CopyOptions) error {
	f, _, err := b.OpenFile(ctx, srcKey)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := b.NewWriter(ctx, dstKey)
	if err != nil {
		return err
	}
	if w.attrs, err = readAttributes(f); err == nil && opts.BeforeCopy != nil {
		err = opts.BeforeCopy(noAs)
	}
	if err == nil {
		_, err = io.Copy(w, f)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	_, err = w.Commit(Replace)
	return err
}

// Delete implements driver.Bucket; opts may be nil. The object is gone for good when it returns, and with it the
// directories that it leaves empty.
func (b *Bucket) Delete(ctx context.Context, key string, opts *driver.DeleteOptions) error {
	if opts != nil && opts.BeforeDelete != nil {
		if err := opts.BeforeDelete(noAs); err != nil {
			return err
		}
	}
	return b.remove(ctx, key)
}

// SignedURL implements driver.Bucket; there are none.
func (b *Bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

package dbfsblob

import (
	"context"
	"errors"
	"io"
	"io/fs"

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
	kind := err
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != nil && !errors.Is(err, errPrecondition) {
		kind = e.Kind
	}
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
		if errors.Is(kind, known.err) {
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
	if opts.BeforeRead != nil {
		if err := opts.BeforeRead(noAs); err != nil {
			return nil, err
		}
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
	return &rangeReader{r, driver.ReaderAttributes{ContentType: set.ContentType, ModTime: r.object.ModTime, Size: r.object.Size}}, nil
}

type rangeReader struct {
	*Reader
	attributes driver.ReaderAttributes
}

func (r *rangeReader) Attributes() *driver.ReaderAttributes { return &r.attributes }

func (r *rangeReader) As(i any) bool {
	p, ok := i.(**Reader)
	if ok {
		*p = r.Reader
	}
	return ok
}

// NewTypedWriter implements driver.Bucket; BeforeWrite takes nothing.
func (b *Bucket) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	if opts.BeforeWrite != nil {
		if err := opts.BeforeWrite(noAs); err != nil {
			return nil, err
		}
	}
	mode := Replace
	if opts.IfNotExist {
		mode = Create
	}
	return b.newWriter(ctx, key, attrs.New(contentType, opts), mode), nil
}

// writer hands what is written to a PutStream in a goroutine, which Close waits for.
type writer struct {
	bucket *Bucket
	ctx    context.Context // of the one write that a writer is; gocloud's interface gives it here and nowhere else
	key    string
	attrs  attrs.Set
	mode   Mode
	pipe   *io.PipeWriter
	done   chan error // gets the outcome once
}

func (b *Bucket) newWriter(ctx context.Context, key string, set attrs.Set, mode Mode) *writer {
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
	err := <-w.done
	if w.mode == Create && errors.Is(err, fs.ErrExist) {
		return errors.Join(errPrecondition, err)
	}
	if err == nil {
		err = w.bucket.writeAttributes(w.ctx, w.key, w.attrs)
	}
	return err
}

// Copy implements driver.Bucket. The bytes pass through this process.
func (b *Bucket) Copy(ctx context.Context, dstKey, srcKey string, opts *driver.CopyOptions) error {
	r, err := b.Open(ctx, srcKey, 0, -1, "")
	if err != nil {
		return err
	}
	defer r.Close()
	set, err := b.readAttributes(ctx, srcKey, r.object)
	if err == nil && opts.BeforeCopy != nil {
		err = opts.BeforeCopy(noAs)
	}
	if err == nil {
		_, err = b.PutStream(ctx, dstKey, r, Replace)
	}
	if err != nil {
		return err
	}
	return b.writeAttributes(ctx, dstKey, set)
}

// Delete implements driver.Bucket.
func (b *Bucket) Delete(ctx context.Context, key string, opts *driver.DeleteOptions) error {
	if opts != nil && opts.BeforeDelete != nil {
		if err := opts.BeforeDelete(noAs); err != nil {
			return err
		}
	}
	if err := b.Remove(ctx, key); err != nil {
		return err
	}
	return b.removeAttributes(ctx, key)
}

// SignedURL implements driver.Bucket; there are none.
func (b *Bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

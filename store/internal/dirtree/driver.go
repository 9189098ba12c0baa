package dirtree

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// Driver has the methods of driver.Bucket that say the same of all trees. A driver embeds it.
type Driver struct{}

// ErrorCode implements driver.Bucket.
func (Driver) ErrorCode(err error) gcerrors.ErrorCode { return code(err) }

// ErrorAs implements driver.Bucket; i may be a **Error or a **fs.PathError.
func (Driver) ErrorAs(err error, i any) bool {
	switch i.(type) {
	case **Error, **fs.PathError:
		return errors.As(err, i)
	}
	return false
}

// SignedURL implements driver.Bucket; there are none.
func (Driver) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}

// As sets what i points to to v, if it is of v's type.
func As[T any](v T, i any) bool {
	p, ok := i.(*T)
	if ok {
		*p = v
	}
	return ok
}

// NoAs takes nothing.
func NoAs(any) bool { return false }

// Before calls what the user wants to be called first, if anything.
func Before(hook func(as func(any) bool) error, as func(any) bool) error {
	if hook == nil {
		return nil
	}
	return hook(as)
}

// NewReader gives a reader of the object to gocloud; Reader.As takes what as does.
func NewReader(r io.ReadCloser, o Object, contentType string, as func(any) bool) driver.Reader {
	return &reader{r, driver.ReaderAttributes{ContentType: contentType, ModTime: o.ModTime, Size: o.Size}, as}
}

type reader struct {
	io.ReadCloser
	attributes driver.ReaderAttributes
	as         func(any) bool
}

func (r *reader) Attributes() *driver.ReaderAttributes { return &r.attributes }
func (r *reader) As(i any) bool                        { return r.as(i) }

// Writer writes one object. Nothing is visible before Commit, or after Abort.
type Writer interface {
	io.Writer
	Commit(mode Mode) (Object, error)
	Abort() error
}

// NewWriter gives w to gocloud; BeforeWrite takes what as does. Close commits, unless the context was cancelled.
func NewWriter(w Writer, opts *driver.WriterOptions, as func(any) bool) (driver.Writer, error) {
	if err := Before(opts.BeforeWrite, as); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return &writer{w, ModeOf(opts)}, nil
}

type writer struct {
	Writer
	mode Mode
}

func (w *writer) Close() error {
	_, err := w.Commit(w.mode)
	return Refused(w.mode, err)
}

// ModeOf is what the options ask for.
func ModeOf(opts *driver.WriterOptions) Mode {
	if opts.IfNotExist {
		return Create
	}
	return Replace
}

// Refused makes of the error of a write in that mode what gocloud calls a failed precondition, where it is one.
func Refused(mode Mode, err error) error {
	if mode == Create && errors.Is(err, fs.ErrExist) {
		return errors.Join(errPrecondition, err)
	}
	return err
}

// Copy fills the new object with r, which passes through this process, and publishes it.
func Copy(w Writer, r io.Reader, opts *driver.CopyOptions) error {
	err := Before(opts.BeforeCopy, NoAs)
	if err == nil {
		_, err = io.Copy(w, r)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	_, err = w.Commit(Replace)
	return err
}

package dirtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"gocloud.dev/gcerrors"
)

// Kinds of error beyond those of io/fs and errors.ErrUnsupported.
var (
	ErrUnavailable = errors.New("unavailable")
	ErrNoSpace     = errors.New("no space left")
	ErrCorrupt     = errors.New("corrupt")
	ErrConflict    = errors.New("changed by someone else")
	// ErrRange tells that a range begins behind the end of an object.
	ErrRange = fmt.Errorf("the range begins behind the end of the object: %w", fs.ErrInvalid)
)

// errPrecondition marks a failed IfNotExist.
var errPrecondition = errors.New("precondition failed")

// Error is what the methods of a driver over a network return: what was tried on which path, the kind, and the cause.
// Kind is nil where none fits, as for a context that ended; Kind or Err is set.
type Error struct {
	Op   string // the verb
	Path string // on the far side; "" where none is meant
	Kind error
	Err  error
}

// Error reads "verb path: cause".
func (e *Error) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	return text + ": " + e.Cause()
}

// Cause says what went wrong without what was tried.
func (e *Error) Cause() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Kind.Error()
}

// Unwrap gives the kind and the cause, those that are set.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.Err}, func(err error) bool { return err == nil })
}

// NoKey refuses to write to the bucket in dir what has no key.
func NoKey(dir string) error {
	return &Error{Op: "write", Path: dir, Kind: fs.ErrInvalid, Err: errors.New("the key is empty")}
}

// kinds are all there are, those that include others behind them.
func kinds() []error {
	return []error{
		ErrUnavailable, ErrNoSpace, ErrCorrupt, ErrConflict, ErrRange, errors.ErrUnsupported,
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid,
	}
}

// KindOf is the kind of an Error, or the first that err holds. It is nil for others, and where a context has ended.
func KindOf(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != nil {
		return e.Kind
	}
	if IsEnded(err) {
		return nil
	}
	for _, kind := range kinds() {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

// IsEnded reports whether err comes of a context that has ended.
func IsEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// code is gocloud's word for an error.
func code(err error) gcerrors.ErrorCode {
	if errors.Is(err, errPrecondition) {
		return gcerrors.FailedPrecondition
	}
	if kind := KindOf(err); kind != nil {
		err = kind
	}
	for _, known := range []struct {
		err  error
		code gcerrors.ErrorCode
	}{
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

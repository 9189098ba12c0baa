package dirtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"gocloud.dev/gcerrors"
)

func TestErrorCode(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want gcerrors.ErrorCode
	}{
		{nil, gcerrors.Unknown},
		{cause, gcerrors.Unknown},
		{&fs.PathError{Err: fs.ErrNotExist}, gcerrors.NotFound},
		{&fs.PathError{Err: fs.ErrExist}, gcerrors.AlreadyExists},
		{Refused(Create, &fs.PathError{Err: fs.ErrExist}), gcerrors.FailedPrecondition},
		{Refused(Replace, &fs.PathError{Err: fs.ErrExist}), gcerrors.AlreadyExists},
		{Refused(Create, &fs.PathError{Err: fs.ErrPermission}), gcerrors.PermissionDenied},
		{NoKey("/dir"), gcerrors.InvalidArgument},
		{&Error{Kind: ErrRange}, gcerrors.InvalidArgument},
		{&Error{Kind: ErrNoSpace, Err: cause}, gcerrors.ResourceExhausted},
		{&Error{Kind: ErrConflict}, gcerrors.FailedPrecondition},
		{&Error{Kind: ErrUnavailable, Err: cause}, gcerrors.Unknown},
		{&Error{Kind: fs.ErrPermission, Err: fs.ErrNotExist}, gcerrors.PermissionDenied}, // the kind decides
		{fmt.Errorf("%w: %w", errors.ErrUnsupported, fs.ErrExist), gcerrors.Unimplemented},
		{&Error{Err: context.Canceled}, gcerrors.Canceled},
		{&Error{Err: fmt.Errorf("%w: %w", context.DeadlineExceeded, ErrUnavailable)}, gcerrors.DeadlineExceeded},
	} {
		if got := (Driver{}).ErrorCode(c.err); got != c.want {
			t.Errorf("%v is %v, want %v", c.err, got, c.want)
		}
	}
}

func TestErrorSaysWhatIsSet(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{&Error{Op: "read", Path: "/k", Kind: ErrConflict}, "read /k: changed by someone else"},
		{&Error{Op: "read", Path: "/k", Kind: ErrConflict, Err: cause}, "read /k: cause"},
		{&Error{Op: "open", Err: cause}, "open: cause"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if errors.Is(c.err, cause) != (c.err.Err != nil) || c.err.Kind != nil && !errors.Is(c.err, c.err.Kind) {
			t.Errorf("%v does not wrap its kind and cause alone", c.err)
		}
	}
}

func TestErrorAs(t *testing.T) {
	var ours *Error
	var paths *fs.PathError
	var other *error
	for _, c := range []struct {
		err  error
		i    any
		want bool
	}{
		{NoKey("/"), &ours, true},
		{NoKey("/"), &paths, false},
		{&fs.PathError{}, &paths, true},
		{NoKey("/"), other, false},
		{NoKey("/"), nil, false},
	} {
		if got := (Driver{}).ErrorAs(c.err, c.i); got != c.want {
			t.Errorf("%T as %T: %v", c.err, c.i, got)
		}
	}
	if ours == nil || paths == nil {
		t.Error("the errors were not handed over")
	}
}

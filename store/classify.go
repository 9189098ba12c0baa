package store

import (
	"context"
	"errors"
	"io/fs"

	"gocloud.dev/gcerrors"
)

// kindOf tells the kind of an error, nil if none fits. It looks past the
// libraries' own classes, which turn refused access into absence (gcsblob) and
// throttling into "unknown" (s3blob), to what the provider or system said.
func kindOf(err error) error {
	for _, kind := range []error{ErrConflict, ErrCorrupt, ErrUnavailable, ErrNoSpace, ErrUnsupported} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return ErrNotExist
	case gcerrors.AlreadyExists, gcerrors.FailedPrecondition:
		return ErrExist
	case gcerrors.InvalidArgument:
		return ErrInvalid
	case gcerrors.PermissionDenied:
		return ErrPermission
	case gcerrors.Unimplemented:
		return ErrUnsupported
	}
	return nil
}

func unreachable(err error) bool { return false }

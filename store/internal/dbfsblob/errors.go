package dbfsblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
)

// Kinds of error beyond those of io/fs and errors.ErrUnsupported.
var (
	ErrUnavailable = errors.New("the workspace is unavailable")
	ErrNoSpace     = errors.New("too large for the workspace")
	ErrCorrupt     = errors.New("corrupt in the workspace")
	ErrConflict    = errors.New("changed by someone else")
	// ErrRange tells that a range begins behind the end of an object.
	ErrRange = fmt.Errorf("the range begins behind the end: %w", fs.ErrInvalid)
)

// Error is what every method of a Bucket returns: what was tried on which path, the kind, and the cause. Kind is nil
// where none fits, as for a context that ended. It holds no credentials.
type Error struct {
	Op     string // the verb
	Path   string // in the workspace; "" where none is meant
	Status int    // of HTTP, 0 where no answer came
	Code   string // error_code of the answer, "" if there is none
	Kind   error
	Err    error
}

// Error reads "verb path: cause".
func (e *Error) Error() string {
	text := e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	if e.Err == nil {
		return text + ": " + e.Kind.Error()
	}
	return text + ": " + e.Err.Error()
}

// Unwrap gives the kind and the cause, those that are set.
func (e *Error) Unwrap() []error {
	var list []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			list = append(list, err)
		}
	}
	return list
}

// wrap completes an error with verb and path, and gives it its kind if it has none.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Op == "" {
			e.Op, e.Path = op, path
		}
		return err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // whose text repeats the address
	}
	return &Error{Op: op, Path: path, Kind: kindOf(err), Err: err}
}

// kindOf is for errors that are no answer of the workspace.
func kindOf(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) {
		return nil
	}
	for _, kind := range []error{
		ErrUnavailable, ErrNoSpace, ErrCorrupt, ErrConflict, ErrRange, errors.ErrUnsupported,
		fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid,
	} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

// kindOfAnswer tells the kind of an answer by its error_code, which says more than the status, and by the status where
// there is none or it is not known.
func kindOfAnswer(status int, code string) error {
	switch code {
	case "RESOURCE_DOES_NOT_EXIST", "NOT_FOUND", "FILE_NOT_FOUND", "DIRECTORY_NOT_FOUND":
		return fs.ErrNotExist
	case "RESOURCE_ALREADY_EXISTS", "ALREADY_EXISTS":
		return fs.ErrExist
	case "PERMISSION_DENIED", "UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED", "INVALID_TOKEN":
		return fs.ErrPermission
	case "MAX_BLOCK_SIZE_EXCEEDED", "MAX_READ_SIZE_EXCEEDED", "INVALID_PARAMETER_VALUE", "MALFORMED_REQUEST", "BAD_REQUEST":
		return fs.ErrInvalid
	case "PARTIAL_DELETE", "TEMPORARILY_UNAVAILABLE", "REQUEST_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED",
		"INTERNAL_ERROR", "DEADLINE_EXCEEDED", "UNKNOWN":
		return ErrUnavailable
	case "QUOTA_EXCEEDED", "MAX_FILE_SIZE_EXCEEDED":
		return ErrNoSpace
	case "DATA_LOSS":
		return ErrCorrupt
	case "FEATURE_DISABLED", "NOT_IMPLEMENTED", "ENDPOINT_NOT_FOUND":
		return errors.ErrUnsupported
	}
	return kindOfStatus(status)
}

func kindOfStatus(status int) error {
	switch status {
	case http.StatusNotFound:
		return fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return fs.ErrPermission
	case http.StatusPreconditionFailed:
		return ErrConflict
	case http.StatusRequestedRangeNotSatisfiable:
		return ErrRange
	case http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage:
		return ErrNoSpace
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return ErrUnavailable
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return errors.ErrUnsupported
	}
	if status >= 500 {
		return ErrUnavailable
	}
	return fs.ErrInvalid // a redirect is a wrong host
}

package dbfsblob

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// answer is what the workspace said where it did not do what it was asked.
type answer struct {
	status int // of HTTP
	error
}

func (a answer) Unwrap() error { return a.error }

// statusOf is that of the answer that err comes of, 0 where none came.
func statusOf(err error) int {
	a, _ := errors.AsType[answer](err)
	return a.status
}

// wrap completes an error with verb and path, and gives it its kind if it has none.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*dirtree.Error](err); ok {
		if e.Op == "" {
			e.Op, e.Path = op, path
		}
		return err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // whose text repeats the address
	}
	return &dirtree.Error{Op: op, Path: path, Kind: dirtree.KindOf(err), Err: err}
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
		return dirtree.ErrUnavailable
	case "QUOTA_EXCEEDED", "MAX_FILE_SIZE_EXCEEDED":
		return dirtree.ErrNoSpace
	case "DATA_LOSS":
		return dirtree.ErrCorrupt
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
		return dirtree.ErrConflict
	case http.StatusRequestedRangeNotSatisfiable:
		return dirtree.ErrRange
	case http.StatusRequestEntityTooLarge, http.StatusInsufficientStorage:
		return dirtree.ErrNoSpace
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return dirtree.ErrUnavailable
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return errors.ErrUnsupported
	}
	if status >= 500 {
		return dirtree.ErrUnavailable
	}
	return fs.ErrInvalid // a redirect is a wrong host
}

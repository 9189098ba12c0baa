package store

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// The kinds of error. Ask for them with errors.Is.
var (
	ErrNotExist    = fs.ErrNotExist
	ErrExist       = fs.ErrExist
	ErrPermission  = fs.ErrPermission
	ErrInvalid     = fs.ErrInvalid
	ErrConflict    = dirtree.ErrConflict
	ErrCorrupt     = dirtree.ErrCorrupt
	ErrUnavailable = dirtree.ErrUnavailable
	ErrNoSpace     = dirtree.ErrNoSpace
	ErrUnsupported = errors.New("unsupported")
)

// Error is what every method of Store returns: what was tried on which key, the
// kind, and the cause. Kind is nil where none of the kinds fits, as for a
// context that ended.
type Error struct {
	Op   string // the verb: get, put, create, list, …
	Key  string // "" where no object is meant
	Kind error
	Err  error // the cause, or nil if the kind says all
}

// Error reads "verb key: cause".
func (e *Error) Error() string {
	text := e.Op
	if e.Key != "" {
		text += " " + shown(e.Key)
	}
	switch {
	case e.Err != nil:
		return text + ": " + e.Err.Error()
	case e.Kind != nil:
		return text + ": " + e.Kind.Error()
	}
	return text
}

// shown is a key in a sentence: one that could not be told from the rest of it, as
// with a line break, is quoted.
func shown(key string) string {
	if strings.ContainsFunc(key, unicode.IsControl) {
		return strconv.Quote(key)
	}
	return key
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

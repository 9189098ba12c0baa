package runner

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// reasons is errors.Join, but where several have one reason, as on a full disk, the
// first tells it for all.
func reasons(errs ...error) error {
	joined := errors.Join(errs...)
	if joined == nil {
		return nil
	}
	var texts []string
	told, more := map[error]bool{}, 0
	for _, err := range errs {
		kind := reason(err)
		switch {
		case err == nil:
			continue
		case kind != nil && told[kind]:
			more++
			continue
		}
		told[kind] = true
		texts = append(texts, err.Error())
	}
	text := strings.Join(texts, "; ")
	if more > 0 {
		text += fmt.Sprintf(" (and so for %d more)", more)
	}
	return &reasonsError{text, joined}
}

// reason is a kind that what is tried next meets too, nil if it is none.
func reason(err error) error {
	for _, kind := range []error{store.ErrNoSpace, store.ErrUnavailable, store.ErrPermission} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

// reasonsError says less than what it holds.
type reasonsError struct {
	text string
	errs error
}

func (e *reasonsError) Error() string { return e.text }
func (e *reasonsError) Unwrap() error { return e.errs }

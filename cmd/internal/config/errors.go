package config

import (
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
)

// invalidError is a setting that cannot be, of kind store.ErrInvalid; the sentence says all.
type invalidError struct{ text string }

func (e *invalidError) Error() string { return e.text }
func (e *invalidError) Unwrap() error { return store.ErrInvalid }

func invalid(format string, args ...any) error {
	return &invalidError{text: fmt.Sprintf(format, args...)}
}

package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

// SyntaxError says where and why a filter does not parse. Its kind is store.ErrInvalid.
type SyntaxError struct {
	Filter string
	Offset int // in bytes
	Reason string
}

// Error shows the filter with a caret below the place.
func (e *SyntaxError) Error() string {
	line := strings.Map(blank, e.Filter)
	column := utf8.RuneCountInString(e.Filter[:min(e.Offset, len(e.Filter))])
	return fmt.Sprintf("filter: %s\n  %s\n  %s^", e.Reason, line, strings.Repeat(" ", column))
}

// Unwrap makes it an error of kind store.ErrInvalid.
func (e *SyntaxError) Unwrap() error { return store.ErrInvalid }

// blank keeps the columns of a filter that is written over several lines.
func blank(r rune) rune {
	if r == '\n' || r == '\r' || r == '\t' {
		return ' '
	}
	return r
}

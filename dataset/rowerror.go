package dataset

import "fmt"

// rowError says what of which row cannot be taken.
type rowError struct {
	row      int64  // from 1, the header not counted
	column   string // "" = the row as a whole
	value    string
	inferred bool // the type was; another may be given
	err      error
}

// maxShown is how much of a value an error repeats, in bytes.
const maxShown = 100

func (e *rowError) Error() string {
	text := fmt.Sprintf("row %d", e.row)
	if e.column != "" {
		text += fmt.Sprintf(", column %q", e.column)
	}
	if e.value != "" {
		text += fmt.Sprintf(", value %.*q", maxShown, e.value)
	}
	text += ": " + e.err.Error()
	if e.inferred {
		text += "; the type was inferred from the first rows, a schema (--schema) would name another"
	}
	return text
}

func (e *rowError) Unwrap() error { return e.err }

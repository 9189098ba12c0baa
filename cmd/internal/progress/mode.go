package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// Mode is how progress is shown.
type Mode string

// The modes.
const (
	Auto  Mode = "auto"  // Line on a terminal, else None
	Line  Mode = "line"  // one line, drawn anew; only by Auto
	Plain Mode = "plain" // a line every few seconds
	JSON  Mode = "json"  // an object a line
	None  Mode = "none"
)

// Modes lists those that a user can ask for.
func Modes() []string { return []string{string(Auto), string(Plain), string(JSON), string(None)} }

// ParseMode reads what a user asked for; "" is Auto. The error has kind store.ErrInvalid.
func ParseMode(text string) (Mode, error) {
	if text == "" {
		return Auto, nil
	}
	if slices.Contains(Modes(), text) {
		return Mode(text), nil
	}
	err := fmt.Errorf("%q is not one of %s", text, strings.Join(Modes(), ", "))
	return "", &store.Error{Op: "show progress", Kind: store.ErrInvalid, Err: err}
}

// On resolves Auto for an output that is a terminal which can move its cursor, or not.
func (m Mode) On(terminal bool) Mode {
	switch {
	case m == Auto && terminal:
		return Line
	case m == Auto:
		return None
	}
	return m
}

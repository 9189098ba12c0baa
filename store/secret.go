package store

import "fmt"

// Secret is text that must not be seen: in every form of printing and encoding
// it is RedactedMark, unless it is empty. Who uses it converts it to a string.
type Secret string

// Format prints the mark, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// String is the mark.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return RedactedMark
}

// MarshalText encodes the mark.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

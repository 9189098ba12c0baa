package store

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxKeyBytes     = 1024 // of a key together with the prefix of its store
	maxElementBytes = 255  // NAME_MAX of the usual file systems
)

// Key names an object: a clean relative slash path such as "runs/r1/model.bin".
// The empty Key stands for the root of a store where a directory is meant, and
// is no object. No key may be a directory of another ("a" beside "a/b").
type Key string

// ParseKey checks s against the rules of a Key: UTF-8 without control
// characters, no empty, "." or ".." element, at most 1,024 bytes, and at most
// 255 in an element. The error has kind ErrInvalid.
func ParseKey(s string) (Key, error) {
	if err := checkKey(s); err != nil {
		return "", &Error{Op: "parse key", Key: s, Kind: ErrInvalid, Err: err}
	}
	return Key(s), nil
}

// Join appends elements, which may themselves hold slashes, and cleans nothing:
// an element that is no part of a valid key makes an invalid one.
func (k Key) Join(elem ...string) Key {
	parts := make([]string, 0, len(elem)+1)
	if k != "" {
		parts = append(parts, string(k))
	}
	return Key(strings.Join(append(parts, elem...), "/"))
}

// Base is the last element of k, "" for the root.
func (k Key) Base() string {
	if k == "" {
		return ""
	}
	return path.Base(string(k))
}

// Dir is k without its last element, "" when only one is left.
func (k Key) Dir() Key {
	i := strings.LastIndexByte(string(k), '/')
	if i < 0 {
		return ""
	}
	return k[:i]
}

// checkKey says what is wrong with s as a key, or nil.
func checkKey(s string) error {
	if isPlainKey(s) {
		return nil
	}
	switch {
	case s == "":
		return errors.New("the key is empty")
	case len(s) > maxKeyBytes:
		return fmt.Errorf("the key has %d bytes, more than %d", len(s), maxKeyBytes)
	case !utf8.ValidString(s):
		return errors.New("the key is not UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("the key holds a control character")
	case strings.ContainsAny(s, "\ufffe\uffff"):
		return errors.New("the key holds a character that XML, and so a listing of S3, cannot")
	}
	for elem := range strings.SplitSeq(s, "/") {
		switch {
		case elem == "":
			return errors.New("the key has an empty element")
		case elem == "." || elem == "..":
			return fmt.Errorf("the key has an element %q", elem)
		case len(elem) > maxElementBytes:
			return fmt.Errorf("an element of the key has %d bytes, more than %d", len(elem), maxElementBytes)
		}
	}
	return nil
}

// isPlainKey says of most keys, at a look, that nothing is wrong with them: those of
// printable ASCII whose elements do not begin with a dot.
func isPlainKey(s string) bool {
	if len(s) > maxKeyBytes {
		return false
	}
	begin := 0 // of the element
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~', c == '.' && i == begin, c == '/' && i == begin, i-begin >= maxElementBytes && c != '/':
			return false
		case c == '/':
			begin = i + 1
		}
	}
	return begin < len(s)
}

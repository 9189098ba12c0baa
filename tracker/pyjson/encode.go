package pyjson

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxWriteDepth = 500  // Python's own reader gives up near 1,000, less the stack it was called on
	maxIntDigits  = 4300 // Python neither prints nor parses a longer integer
)

const hexDigits = "0123456789abcdef"

// ValueError is a value that cannot be written. Its kind is fs.ErrInvalid.
type ValueError struct {
	Path   string // where in the value: "" is the value itself, "a[2].b" a member
	Reason string
}

func (e *ValueError) Error() string {
	if e.Path == "" {
		return "write JSON: " + e.Reason
	}
	return fmt.Sprintf("write JSON: %s: %s", e.Path, e.Reason)
}

// Unwrap gives the kind.
func (e *ValueError) Unwrap() error { return fs.ErrInvalid }

// Marshal returns what Python's json.dumps(v) returns, without a newline.
// Besides the values of an Object it takes int. Anything else, a string that
// is neither UTF-8 nor WTF-8, and nesting beyond 500 are a *ValueError.
func Marshal(v any) ([]byte, error) {
	w := writer{item: ", ", colon: ": ", text: appendASCII, float: appendFloat}
	return w.value(nil, v, 0)
}

// writer is one dialect of JSON. Path is built only on the way out of an error.
type writer struct {
	item, colon string
	text        func(b []byte, s string) ([]byte, error)
	float       func(b []byte, f float64) []byte
}

func (w *writer) value(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxWriteDepth {
		return b, &ValueError{Reason: fmt.Sprintf("nested deeper than %d", maxWriteDepth)}
	}
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case *big.Int:
		return appendBig(b, v)
	case float64:
		return w.float(b, v), nil
	case string:
		return w.text(b, v)
	case []any:
		return w.list(b, v, depth)
	case *Object:
		return w.object(b, v, depth)
	}
	return b, &ValueError{Reason: fmt.Sprintf("a value of type %T has no JSON form", v)}
}

func (w *writer) list(b []byte, list []any, depth int) ([]byte, error) {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, w.item...)
		}
		var err error
		if b, err = w.value(b, v, depth+1); err != nil {
			return b, within(err, "["+strconv.Itoa(i)+"]")
		}
	}
	return append(b, ']'), nil
}

func (w *writer) object(b []byte, o *Object, depth int) ([]byte, error) {
	if o == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '{')
	first := true
	for k, v := range o.All() {
		if !first {
			b = append(b, w.item...)
		}
		first = false
		var err error
		if b, err = w.text(b, k); err != nil {
			return b, within(err, strconv.Quote(k))
		}
		b = append(b, w.colon...)
		if b, err = w.value(b, v, depth+1); err != nil {
			return b, within(err, k)
		}
	}
	return append(b, '}'), nil
}

// within puts the step that led to a faulty value before its path.
func within(err error, step string) error {
	var e *ValueError
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case len(e.Path) > 200: // enough to find it; a cycle would repeat it for ever
	case e.Path == "" || strings.HasPrefix(e.Path, "["):
		e.Path = step + e.Path
	default:
		e.Path = step + "." + e.Path
	}
	return e
}

func appendBig(b []byte, v *big.Int) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	text := v.String()
	if len(strings.TrimPrefix(text, "-")) > maxIntDigits {
		return b, &ValueError{Reason: fmt.Sprintf("an integer of more than %d digits", maxIntDigits)}
	}
	return append(b, text...), nil
}

// appendFloat writes Python's repr of a float: the shortest digits that read
// back the same, always with a point or an exponent, the exponent form below
// 1e-4 and from 1e16.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if !strings.Contains(string(b[start:]), ".") {
		b = append(b, ".0"...)
	}
	return b
}

// appendASCII writes a string with all but 0x20 to 0x7e escaped, characters
// beyond the basic plane as surrogate pairs.
func appendASCII(b []byte, s string) ([]byte, error) {
	b = append(b, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			b = appendASCIIByte(b, c)
			i++
			continue
		}
		r, size := decodeWTF8(s[i:])
		if size == 0 {
			return b, &ValueError{Reason: "a string is not UTF-8"}
		}
		b = appendEscape(b, r)
		i += size
	}
	return append(b, '"'), nil
}

func appendASCIIByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	if c < 0x20 || c == 0x7f {
		return appendEscape(b, rune(c))
	}
	return append(b, c)
}

func appendEscape(b []byte, r rune) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		b = appendEscape(b, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// decodeWTF8 is utf8.DecodeRuneInString that also takes lone surrogates. The
// size is 0 if the bytes are neither.
func decodeWTF8(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size > 1 {
		return r, size
	}
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return 0, 0
}

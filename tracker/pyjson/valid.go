package pyjson

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Valid returns v as JSON that any reader takes, for heirloom's own output:
// compact, keys in order, text as plain UTF-8, and a float that JSON cannot
// write as the string "NaN", "Infinity" or "-Infinity". A lone surrogate
// stays an escape, other bytes that are not UTF-8 become U+FFFD. A value that
// has no JSON form, which Unmarshal never returns, is written as text.
func Valid(v any) []byte {
	w := writer{item: ",", colon: ":", text: appendUTF8, float: appendValidFloat}
	b, err := w.value(nil, v, 0)
	if err != nil {
		b, _ = appendUTF8(nil, fmt.Sprint(v))
	}
	return b
}

func appendValidFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(appendFloat(append(b, '"'), f), '"')
	}
	return appendFloat(b, f)
}

// appendUTF8 escapes only what JSON demands. It never fails.
func appendUTF8(b []byte, s string) ([]byte, error) {
	b = append(b, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c == 0x7f {
				b = append(b, c)
			} else {
				b = appendASCIIByte(b, c)
			}
			i++
			continue
		}
		r, size := decodeWTF8(s[i:])
		switch {
		case size == 0:
			b, size = utf8.AppendRune(b, utf8.RuneError), 1
		case r >= 0xd800 && r <= 0xdfff:
			b = appendEscape(b, r)
		default:
			b = append(b, s[i:i+size]...)
		}
		i += size
	}
	return append(b, '"'), nil
}

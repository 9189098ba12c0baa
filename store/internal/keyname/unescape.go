package keyname

import "strings"

func unescape(name string) string {
	if name == emptyName {
		return ""
	}
	var out strings.Builder
	for i := 0; i < len(name); {
		if c, ok := escapedByte(name[i:]); ok {
			out.WriteByte(c)
			i += len(escapeStart) + 2 + len(escapeEnd)
			continue
		}
		out.WriteByte(name[i])
		i++
	}
	return out.String()
}

// escapedByte reads an escape at the start of s.
func escapedByte(s string) (byte, bool) {
	rest, ok := strings.CutPrefix(s, escapeStart)
	if !ok || len(rest) < 4 || rest[2:4] != escapeEnd {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, rest[0]), strings.IndexByte(hexDigits, rest[1])
	if high < 0 || low < 0 {
		return 0, false
	}
	return byte(high<<4 | low), true
}

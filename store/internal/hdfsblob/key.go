package hdfsblob

import (
	"strings"
)

// Keys and paths correspond one to one, element by element. A path is its key unless an element cannot be a name in
// HDFS as it is (empty, ".", "..", one that HDFS reserves, one of our temporary files, with a colon or a control
// character); then the offending bytes are written as "__0x" hex "__", and an empty element as "__0x__", as in
// package localblob. A name that some other program made and that merely looks escaped stands for itself, so every
// file has a key.

const (
	escapeStart = "__0x"
	escapeEnd   = "__"
	emptyName   = escapeStart + escapeEnd
	hexDigits   = "0123456789abcdef"
)

func pathOf(key string) string { return mapElements(key, nameOf) }

func mapElements(s string, convert func(string) string) string {
	elems := strings.Split(s, "/")
	for i, e := range elems {
		elems[i] = convert(e)
	}
	return strings.Join(elems, "/")
}

// nameOf returns the name of one element of a key.
func nameOf(elem string) string {
	if isPlain(elem) && elemOf(elem) == elem {
		return elem
	}
	return escape(elem)
}

// elemOf reverses nameOf. The two call each other on ever shorter strings.
func elemOf(name string) string {
	if !strings.Contains(name, escapeStart) {
		return name
	}
	if elem := unescape(name); elem != name && nameOf(elem) == name {
		return elem
	}
	return name
}

func isReserved(elem string) bool {
	switch elem {
	case "", ".", "..", ".snapshot", ".reserved":
		return true
	}
	return isTemp(elem)
}

func isUnsafe(c byte) bool { return c < 0x20 || c == 0x7f || c == ':' }

func isPlain(elem string) bool {
	for i := range len(elem) {
		if isUnsafe(elem[i]) {
			return false
		}
	}
	return !isReserved(elem)
}

func escape(elem string) string {
	if elem == "" {
		return emptyName
	}
	whole := isReserved(elem)
	var out strings.Builder
	for i := range len(elem) {
		if (i == 0 && whole) || isUnsafe(elem[i]) || strings.HasPrefix(elem[i:], escapeStart) {
			out.WriteString(escapeStart)
			out.WriteByte(hexDigits[elem[i]>>4])
			out.WriteByte(hexDigits[elem[i]&15])
			out.WriteString(escapeEnd)
			continue
		}
		out.WriteByte(elem[i])
	}
	return out.String()
}

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

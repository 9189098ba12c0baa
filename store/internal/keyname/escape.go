// Package keyname gives every key a path that a backend can hold, and back.
//
// Keys and paths correspond one to one, element by element, so that sorting needs no look at other elements.
// A path is its key unless an element cannot be a name as it is; then the offending bytes are written as
// "__0x" hex "__", the form gocloud's fileblob uses, and an empty element as "__0x__". A name that some other
// program made and that merely looks escaped stands for itself, so every file has a key.
package keyname

import "strings"

const (
	escapeStart = "__0x"
	escapeEnd   = "__"
	emptyName   = escapeStart + escapeEnd
	hexDigits   = "0123456789abcdef"
)

// Escape says what one backend cannot take as a name. Control characters, "", "." and ".." none can.
type Escape struct {
	Reserved func(elem string) bool        // the whole name is not free, but would be with another first byte
	Unsafe   func(elem string, i int) bool // the byte at i cannot stand in a name
}

// Path returns the slash-separated path of key, relative to the root; it never leads out of it.
func (e Escape) Path(key string) string { return mapElements(key, e.name) }

// Key reverses Path.
func (e Escape) Key(path string) string { return mapElements(path, e.Elem) }

func mapElements(s string, convert func(string) string) string {
	same := true
	for elem := range strings.SplitSeq(s, "/") {
		same = same && convert(elem) == elem
	}
	if same {
		return s
	}
	elems := strings.Split(s, "/")
	for i, elem := range elems {
		elems[i] = convert(elem)
	}
	return strings.Join(elems, "/")
}

// name returns the name of one element of a key.
func (e Escape) name(elem string) string {
	if e.isPlain(elem) && e.Elem(elem) == elem {
		return elem
	}
	return e.escape(elem)
}

// Elem returns the element of a key that has the name. It and name call each other on ever shorter strings.
func (e Escape) Elem(name string) string {
	if !strings.Contains(name, escapeStart) {
		return name
	}
	if elem := unescape(name); elem != name && e.name(elem) == name {
		return elem
	}
	return name
}

func (e Escape) isReserved(elem string) bool {
	return elem == "" || elem == "." || elem == ".." || e.Reserved(elem)
}

func (e Escape) isUnsafe(elem string, i int) bool {
	return elem[i] < ' ' || elem[i] == 0x7f || e.Unsafe(elem, i)
}

// isPlain says whether elem can be a name.
func (e Escape) isPlain(elem string) bool {
	for i := range len(elem) {
		if e.isUnsafe(elem, i) {
			return false
		}
	}
	return !e.isReserved(elem)
}

func (e Escape) escape(elem string) string {
	if elem == "" {
		return emptyName
	}
	whole := e.isReserved(elem)
	var out strings.Builder
	for i := range len(elem) {
		if (i == 0 && whole) || e.isUnsafe(elem, i) || strings.HasPrefix(elem[i:], escapeStart) {
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

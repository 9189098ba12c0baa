package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// Document prints one JSON document with a newline: on one line for JSONL, else indented.
func Document(w io.Writer, v any, f Format) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if f != JSONL {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	_, err := w.Write(escapeHidden(b.Bytes()))
	return err
}

// escapeHidden writes what a terminal would act upon as \u escapes, which leaves the values as they are: outside of
// strings JSON has no such runes.
func escapeHidden(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		switch {
		case r == '\n' || !hidden(r):
			out = append(out, doc[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[size:]
	}
	return out
}

// stamp is a time in JSON: null when zero, else RFC 3339 in UTC.
type stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) { return json.Marshal(plain(time.Time(s))) }

// maybe is null for "".
func maybe(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

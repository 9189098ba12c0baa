package dataset

import (
	"bytes"
	"errors"
)

// csvRows takes rows of CSV apart, by RFC 4180 to the letter, except that LF
// ends a row as well as CRLF does. encoding/csv does not tell "" from an empty
// field, passes over empty lines, and turns CRLF within quotes into LF.
type csvRows struct {
	data    []byte // whole rows
	pos     int
	special [256]bool // bytes that end a plain field
	delim   byte
	scratch []byte // of a field in which quotes are doubled
}

// csvField is valid until the next one.
type csvField struct {
	text   []byte
	quoted bool
	last   bool // of its row
}

func newCSVRows(data []byte, delim byte) *csvRows {
	r := &csvRows{data: data, delim: delim}
	for _, c := range []byte{delim, '\n', '\r', '"'} {
		r.special[c] = true
	}
	return r
}

// more tells whether another row begins here.
func (r *csvRows) more() bool { return r.pos < len(r.data) }

// next takes one field.
func (r *csvRows) next() (csvField, error) {
	start := r.pos
	if start < len(r.data) && r.data[start] == '"' {
		return r.quoted()
	}
	i := start
	for i < len(r.data) && !r.special[r.data[i]] {
		i++
	}
	field := csvField{text: r.data[start:i]}
	if i < len(r.data) && r.data[i] == '"' {
		return csvField{}, errors.New("a quote stands within a field that does not begin with one")
	}
	err := r.end(i, &field)
	return field, err
}

// end passes over what ends a field: a delimiter, a line end, or the end of data.
func (r *csvRows) end(i int, field *csvField) error {
	switch {
	case i == len(r.data):
		field.last = true
	case r.data[i] == r.delim:
		i++
	case r.data[i] == '\n':
		field.last = true
		i++
	case bytes.HasPrefix(r.data[i:], []byte("\r\n")):
		field.last = true
		i += 2
	case r.data[i] == '\r':
		return errors.New("a CR without LF stands outside of quotes")
	default:
		return errors.New("something follows the quote that ends a field")
	}
	r.pos = i
	return nil
}

func (r *csvRows) quoted() (csvField, error) {
	start := r.pos + 1
	i, doubled := start, false
	for {
		n := bytes.IndexByte(r.data[i:], '"')
		if n < 0 {
			return csvField{}, errors.New("a quote is left open")
		}
		i += n + 1
		if i == len(r.data) || r.data[i] != '"' {
			break
		}
		doubled = true
		i++
	}
	field := csvField{text: r.data[start : i-1], quoted: true}
	if doubled {
		r.scratch = r.scratch[:0]
		for rest := field.text; ; {
			before, after, found := bytes.Cut(rest, []byte(`""`))
			r.scratch = append(r.scratch, before...)
			if !found {
				break
			}
			r.scratch = append(r.scratch, '"')
			rest = after
		}
		field.text = r.scratch
	}
	err := r.end(i, &field)
	return field, err
}

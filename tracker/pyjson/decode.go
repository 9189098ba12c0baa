package pyjson

import (
	"fmt"
	"io/fs"
	"unicode/utf8"
)

// maxReadDepth is where Python's reader gives up as well.
const maxReadDepth = 1000

// SyntaxError is text that Python's json.loads would refuse. Its kind is
// fs.ErrInvalid.
type SyntaxError struct {
	Offset int // in bytes from the start
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("read JSON: byte %d: %s", e.Offset, e.Reason)
}

// Unwrap gives the kind.
func (e *SyntaxError) Unwrap() error { return fs.ErrInvalid }

// Unmarshal reads one value, with white space around it, as Python's
// json.loads: NaN, Infinity, -Infinity and integers of any size are taken, of
// equal keys the last wins in the place of the first, a number beyond the
// range of float64 is infinite. Text that is not UTF-8, control characters
// inside strings, nesting beyond 1,000 and integers of more than 4,300 digits
// are a *SyntaxError.
func Unmarshal(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, &SyntaxError{Offset: invalidAt(data), Reason: "not UTF-8"}
	}
	p := parser{text: data}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.text) {
		return nil, p.fail("data after the value")
	}
	return v, nil
}

// UnmarshalObject is Unmarshal for a text that must be an object.
func UnmarshalObject(data []byte) (*Object, error) {
	v, err := Unmarshal(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, &SyntaxError{Reason: "not an object"}
	}
	return o, nil
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

type parser struct {
	text []byte // valid UTF-8
	at   int    // next byte
}

func (p *parser) fail(reason string) error {
	return &SyntaxError{Offset: p.at, Reason: reason}
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek is the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// word takes a fixed word if it is next.
func (p *parser) word(w string) bool {
	if len(p.text)-p.at < len(w) || string(p.text[p.at:p.at+len(w)]) != w {
		return false
	}
	p.at += len(w)
	return true
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxReadDepth {
		return nil, p.fail(fmt.Sprintf("nested deeper than %d", maxReadDepth))
	}
	switch c := p.peek(); {
	case c == 0 && p.at == len(p.text):
		return nil, p.fail("unexpected end")
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.constant()
}

func (p *parser) list(depth int) (any, error) {
	p.at++
	list := []any{}
	if p.peek() == ']' {
		p.at++
		return list, nil
	}
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		switch p.peek() {
		case ',':
			p.at++
		case ']':
			p.at++
			return list, nil
		default:
			return nil, p.fail("expected , or ]")
		}
	}
}

func (p *parser) object(depth int) (any, error) {
	p.at++
	o := &Object{}
	if p.peek() == '}' {
		p.at++
		return o, nil
	}
	for {
		if err := p.member(o, depth); err != nil {
			return nil, err
		}
		switch p.peek() {
		case ',':
			p.at++
		case '}':
			p.at++
			return o, nil
		default:
			return nil, p.fail("expected , or }")
		}
	}
}

func (p *parser) member(o *Object, depth int) error {
	if p.peek() != '"' {
		return p.fail("expected a key in double quotes")
	}
	key, err := p.string()
	if err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.fail("expected :")
	}
	p.at++
	v, err := p.value(depth + 1)
	if err != nil {
		return err
	}
	o.Set(key, v)
	return nil
}

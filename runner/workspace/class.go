package workspace

import "strings"

// parseSet reads a set in brackets, as "[a-z]", "[!a]", "[[:digit:]_]", and says
// how many bytes it takes; 0 if it is malformed. A ] that comes first, and a -
// that comes first or last, stand for themselves.
func parseSet(pattern string) (*[256]bool, int) {
	p := setParser{text: pattern, at: 1, set: new([256]bool)}
	negated := p.next() == '!' || p.next() == '^'
	if negated {
		p.at++
	}
	for first := true; first || p.next() != ']'; first = false {
		if !p.element() {
			return nil, 0
		}
	}
	if negated {
		for c := range p.set {
			p.set[c] = !p.set[c]
		}
	}
	return p.set, p.at + 1
}

type setParser struct {
	text string
	at   int
	set  *[256]bool
	last byte // what a range may begin with, 0 if nothing
}

// next is the byte to come, 0 at the end, which no pattern holds.
func (p *setParser) next() byte { return p.ahead(0) }

func (p *setParser) ahead(n int) byte {
	if p.at+n >= len(p.text) {
		return 0
	}
	return p.text[p.at+n]
}

// element reads a byte, a range or a class by name.
func (p *setParser) element() bool {
	switch c := p.next(); {
	case c == '[' && p.ahead(1) == ':':
		return p.class()
	case c == '-' && p.last != 0 && p.ahead(1) != 0 && p.ahead(1) != ']':
		p.at++
		high, ok := p.char()
		for c := int(p.last); c <= int(high) && ok; c++ {
			p.set[c] = true
		}
		p.last = 0
		return ok
	}
	c, ok := p.char()
	if ok {
		p.set[c] = true
		p.last = c
	}
	return ok
}

// char reads one byte, escaped or not.
func (p *setParser) char() (byte, bool) {
	if p.next() == '\\' {
		p.at++
	}
	c := p.next()
	p.at++
	return c, c != 0
}

// class reads "[:name:]". Without its end it is a [ that stands for itself.
func (p *setParser) class() bool {
	name, _, closed := strings.Cut(p.text[p.at+2:], "]")
	if !closed {
		return false
	}
	short, ok := strings.CutSuffix(name, ":")
	if !ok {
		p.set['['] = true
		p.last = '['
		p.at++
		return true
	}
	in := classNamed(short)
	if in == nil {
		return false
	}
	for c := range byte(128) {
		if in(c) {
			p.set[c] = true
		}
	}
	p.at += len("[:") + len(name) + len("]")
	p.last = 0
	return true
}

// classNamed is a class of POSIX over ASCII, nil if there is none of that name.
func classNamed(name string) func(c byte) bool {
	between := func(low, high byte) func(byte) bool { return func(c byte) bool { return c >= low && c <= high } }
	upper, lower, digit, graph := between('A', 'Z'), between('a', 'z'), between('0', '9'), between('!', '~')
	alnum := func(c byte) bool { return upper(c) || lower(c) || digit(c) }
	switch name {
	case "alnum":
		return alnum
	case "alpha":
		return func(c byte) bool { return upper(c) || lower(c) }
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 127 }
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return between(' ', '~')
	case "punct":
		return func(c byte) bool { return graph(c) && !alnum(c) }
	case "space":
		return func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	case "upper":
		return upper
	case "xdigit":
		return func(c byte) bool { return digit(c) || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f' }
	}
	return nil
}

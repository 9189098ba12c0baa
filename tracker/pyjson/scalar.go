package pyjson

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

func (p *parser) constant() (any, error) {
	switch {
	case p.word("null"):
		return nil, nil
	case p.word("true"):
		return true, nil
	case p.word("false"):
		return false, nil
	case p.word("NaN"):
		return math.NaN(), nil
	case p.word("Infinity"):
		return math.Inf(1), nil
	}
	return nil, p.fail("expected a value")
}

func (p *parser) number() (any, error) {
	if p.word("-Infinity") {
		return math.Inf(-1), nil
	}
	start := p.at
	p.take('-')
	if p.take('0') == 0 && p.digits() == 0 {
		return nil, p.fail("expected a digit")
	}
	whole := p.at
	p.fraction()
	p.exponent()
	text := string(p.text[start:p.at])
	if p.at > whole {
		f, _ := strconv.ParseFloat(text, 64) // out of range is infinite, as in Python
		return f, nil
	}
	return p.integer(text)
}

func (p *parser) integer(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if len(text) > maxIntDigits+1 || len(text) > maxIntDigits && text[0] != '-' {
		return nil, p.fail(fmt.Sprintf("an integer of more than %d digits", maxIntDigits))
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, p.fail("not an integer")
	}
	return n, nil
}

// take takes one byte if it is next and returns how many it took.
func (p *parser) take(c byte) int {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return 1
	}
	return 0
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// fraction takes a point with digits behind it; a bare point stays where it is
// and is refused by whoever comes next.
func (p *parser) fraction() {
	start := p.at
	if p.take('.') == 1 && p.digits() == 0 {
		p.at = start
	}
}

func (p *parser) exponent() {
	start := p.at
	if p.take('e')+p.take('E') != 1 {
		p.at = start
		return
	}
	if p.take('+') == 0 {
		p.take('-')
	}
	if p.digits() == 0 {
		p.at = start
	}
}

func (p *parser) string() (string, error) {
	p.at++
	var b []byte
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", p.fail("a control character in a string")
		case c == '\\':
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			p.at++
		}
	}
	return "", p.fail("a string without end")
}

func (p *parser) escape(b []byte) ([]byte, error) {
	if p.at+1 >= len(p.text) {
		return b, p.fail("a string without end")
	}
	c := p.text[p.at+1]
	if c == 'u' {
		return p.unicode(b)
	}
	plain, ok := plainEscape(c)
	if !ok {
		return b, p.fail("an unknown escape in a string")
	}
	p.at += 2
	return append(b, plain), nil
}

func plainEscape(c byte) (byte, bool) {
	switch c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

// unicode takes \uXXXX, and a second one if the two are a surrogate pair.
func (p *parser) unicode(b []byte) ([]byte, error) {
	r, ok := p.hexAt(p.at)
	if !ok {
		return b, p.fail(`\u without four hexadecimal digits`)
	}
	p.at += 6
	if r < 0xd800 || r > 0xdfff {
		return utf8.AppendRune(b, r), nil
	}
	if low, ok := p.hexAt(p.at); ok && r < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		p.at += 6
		return utf8.AppendRune(b, 0x10000+(r-0xd800)<<10+(low-0xdc00)), nil
	}
	return append(b, 0xed, 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f)), nil // WTF-8
}

// hexAt is the character that \uXXXX at i names.
func (p *parser) hexAt(i int) (rune, bool) {
	if i+6 > len(p.text) || p.text[i] != '\\' || p.text[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range p.text[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

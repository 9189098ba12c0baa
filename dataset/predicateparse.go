package dataset

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPredicateDepth bounds parentheses and nots.
const maxPredicateDepth = 200

type tokenKind int

const (
	endToken    tokenKind = iota
	wordToken             // a name or keyword
	quotedToken           // a name in double quotes
	textToken             // 'text'
	numberToken
	signToken // an operator or parenthesis
)

type token struct {
	kind tokenKind
	text string
	at   int // byte in the text
}

// predicateParser is a parser by recursive descent. The first error stays.
type predicateParser struct {
	text  string
	at    int
	token token
	err   error
}

func (p *predicateParser) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: "+format, append([]any{p.token.at + 1}, args...)...)
		p.token = token{kind: endToken, at: p.at}
	}
}

// next reads a token.
func (p *predicateParser) next() {
	if p.err != nil {
		return
	}
	rest := strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace)
	p.at = len(p.text) - len(rest)
	p.token = token{at: p.at}
	if rest == "" {
		return
	}
	n := 0
	switch first, _ := utf8.DecodeRuneInString(rest); {
	case first == '\'' || first == '"':
		p.quoted(rest, byte(first))
		return
	case unicode.IsDigit(first) || first == '-' || first == '+' || first == '.':
		p.token.kind = numberToken
		n = 1 + len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789.eE+-"))
	case isNameRune(first):
		p.token.kind = wordToken
		n = len(rest) - len(strings.TrimLeftFunc(rest, isNameRune))
	default:
		p.token.kind = signToken
		n = signLength(rest)
	}
	p.token.text = rest[:n]
	p.at += n
}

func isNameRune(r rune) bool {
	return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func signLength(rest string) int {
	for _, sign := range []string{"!=", "<>", "<=", ">=", "=="} {
		if strings.HasPrefix(rest, sign) {
			return 2
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return n
}

// quoted reads up to the closing quote; a doubled one stands for itself.
func (p *predicateParser) quoted(rest string, quote byte) {
	p.token.kind = textToken
	if quote == '"' {
		p.token.kind = quotedToken
	}
	var text strings.Builder
	for i := 1; i < len(rest); i++ {
		if rest[i] != quote {
			text.WriteByte(rest[i])
			continue
		}
		if i+1 < len(rest) && rest[i+1] == quote {
			text.WriteByte(quote)
			i++
			continue
		}
		p.token.text = text.String()
		p.at += i + 1
		return
	}
	p.failf("a quote is not closed")
}

func (p *predicateParser) isWord(word string) bool {
	return p.token.kind == wordToken && keyword(p.token.text, word)
}

func (p *predicateParser) isSign(sign string) bool {
	return p.token.kind == signToken && p.token.text == sign
}

func (p *predicateParser) or(depth int) condition {
	c := p.and(depth)
	for p.isWord("or") {
		p.next()
		c = &orCondition{c, p.and(depth)}
	}
	return c
}

func (p *predicateParser) and(depth int) condition {
	c := p.not(depth)
	for p.isWord("and") {
		p.next()
		c = &andCondition{c, p.not(depth)}
	}
	return c
}

func (p *predicateParser) not(depth int) condition {
	if depth > maxPredicateDepth {
		p.failf("it nests too deep")
		return nil
	}
	switch {
	case p.isWord("not"):
		p.next()
		return &notCondition{p.not(depth + 1)}
	case p.isSign("("):
		p.next()
		c := p.or(depth + 1)
		p.expect(")")
		return c
	}
	return p.comparison()
}

func (p *predicateParser) expect(sign string) {
	if !p.isSign(sign) {
		p.failf("%q is expected", sign)
	}
	p.next()
}

// comparison is a column, an operator and what it is compared with.
func (p *predicateParser) comparison() condition {
	if p.token.kind != wordToken && p.token.kind != quotedToken {
		p.failf("a column is expected")
		return nil
	}
	column := p.token.text
	p.next()
	switch {
	case p.isWord("is"):
		p.next()
		return p.isNull(column)
	case p.isWord("in"):
		p.next()
		return p.in(column)
	case p.isWord("not"):
		p.next()
		if !p.isWord("in") {
			p.failf("in is expected after not")
		}
		p.next()
		return &notCondition{p.in(column)}
	}
	operator := operatorOf(p.token)
	if operator == "" {
		p.failf("an operator is expected after %q", column)
	}
	p.next()
	return &comparison{column: column, operator: operator, value: p.literal()}
}

func operatorOf(t token) string {
	if t.kind != signToken {
		return ""
	}
	switch t.text {
	case "=", "==":
		return "="
	case "!=", "<>":
		return "!="
	case "<", "<=", ">", ">=":
		return t.text
	}
	return ""
}

func (p *predicateParser) isNull(column string) condition {
	var c condition = &nullCondition{column: column}
	if p.isWord("not") {
		p.next()
		c = &notCondition{c}
	}
	if !p.isWord("null") {
		p.failf("null is expected")
	}
	p.next()
	return c
}

// in is a chain of comparisons.
func (p *predicateParser) in(column string) condition {
	p.expect("(")
	var c condition = &comparison{column: column, operator: "=", value: p.literal()}
	for p.isSign(",") {
		p.next()
		c = &orCondition{c, &comparison{column: column, operator: "=", value: p.literal()}}
	}
	p.expect(")")
	return c
}

// literal reads a value.
func (p *predicateParser) literal() token {
	t := p.token
	if t.kind != textToken && t.kind != numberToken && !p.isWord("true") && !p.isWord("false") {
		p.failf("a value is expected: a number, 'text', true or false")
	}
	p.next()
	return t
}

package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	end    tokenKind = iota
	word             // a name, a keyword or a number
	quoted           // "…" or `…`: a name, or a text
	text             // '…'
	symbol           // ( ) , . and comparisons
)

// token is one piece of a filter.
type token struct {
	kind   tokenKind
	text   string // without quotes
	offset int
	joined bool // no space before it
}

// is reports whether the token is this keyword, in any case.
func (t token) is(keyword string) bool {
	return t.kind == word && strings.EqualFold(t.text, keyword)
}

// describe names the token for an error.
func (t token) describe() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// scan cuts a filter into tokens; the last one is of kind end.
func scan(filter string) ([]token, error) {
	if !utf8.ValidString(filter) {
		return nil, &SyntaxError{Filter: strings.ToValidUTF8(filter, "\ufffd"), Reason: "it is not UTF-8"}
	}
	var tokens []token
	for at := 0; ; {
		rest := strings.TrimLeftFunc(filter[at:], unicode.IsSpace)
		start := len(filter) - len(rest)
		if rest == "" {
			return append(tokens, token{kind: end, offset: len(filter)}), nil
		}
		t, size, err := next(rest)
		if err != "" {
			return nil, &SyntaxError{Filter: filter, Offset: start, Reason: err}
		}
		t.offset, t.joined = start, start == at && at > 0
		tokens = append(tokens, t)
		at = start + size
	}
}

// symbols are tried in this order.
var symbols = []string{"!=", "<>", "<=", ">=", "==", "=", "<", ">", "(", ")", ",", "."}

// next reads one token and its size in bytes; a non-empty text says what is wrong.
func next(s string) (t token, size int, wrong string) {
	switch s[0] {
	case '\'', '"', '`':
		return nextQuoted(s)
	}
	if n := wordSize(s); n > 0 {
		return token{kind: word, text: s[:n]}, n, ""
	}
	for _, symbolic := range symbols {
		if strings.HasPrefix(s, symbolic) {
			return token{kind: symbol, text: spelling(symbolic)}, len(symbolic), ""
		}
	}
	r, _ := utf8.DecodeRuneInString(s)
	return token{}, 0, fmt.Sprintf("%q has no place here; texts stand in quotes", r)
}

// spelling is the canonical form of a symbol.
func spelling(s string) string {
	switch s {
	case "==":
		return "="
	case "<>":
		return "!="
	}
	return s
}

// nextQuoted reads a text or name in quotes; a quote is doubled to stand for itself.
func nextQuoted(s string) (t token, size int, wrong string) {
	quote := s[:1]
	var b strings.Builder
	for rest := s[1:]; ; {
		i := strings.Index(rest, quote)
		if i < 0 {
			return token{}, 0, "a quote is opened and not closed"
		}
		b.WriteString(rest[:i])
		rest = rest[i+1:]
		if !strings.HasPrefix(rest, quote) {
			kind := quoted
			if quote == "'" {
				kind = text
			}
			return token{kind: kind, text: b.String()}, len(s) - len(rest), ""
		}
		b.WriteString(quote)
		rest = rest[1:]
	}
}

// wordSize is the length of a name or number that s begins with. A dot belongs to a number and to a name's parts.
func wordSize(s string) int {
	if numberSize(s) > 0 {
		return numberSize(s)
	}
	for i, r := range s {
		if r == '_' || unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || strings.ContainsRune("-/.:@", r)) {
			continue
		}
		return i
	}
	return len(s)
}

// numberSize is the length of the number that s begins with: a sign, digits, a fraction, an exponent.
func numberSize(s string) int {
	n := 0
	if s[0] == '-' || s[0] == '+' {
		n++
	}
	digits := n
	n += span(s[n:])
	if n < len(s) && s[n] == '.' {
		n += 1 + span(s[n+1:])
		digits++ // the dot is none
	}
	if n <= digits {
		return 0
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		m := n + 1
		if m < len(s) && (s[m] == '-' || s[m] == '+') {
			m++
		}
		if d := span(s[m:]); d > 0 {
			n = m + d
		}
	}
	return n
}

// span counts the digits that s begins with.
func span(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}

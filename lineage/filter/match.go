package filter

import (
	"cmp"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Record is a run as a filter sees it.
type Record interface {
	// Values yields the values of a field: none, one, or, for artifacts, parents and datasets, several.
	Values(Field) iter.Seq[Value]
}

// Value is one value of a field.
type Value struct {
	Text     string
	Number   float64 // where IsNumber; not a NaN
	IsNumber bool
	Nanos    int64 // of a field of type Time, since the Unix epoch
}

// Match reports whether both hold.
func (e *And) Match(r Record) bool { return e.X.Match(r) && e.Y.Match(r) }

// Match reports whether one of them holds.
func (e *Or) Match(r Record) bool { return e.X.Match(r) || e.Y.Match(r) }

// Match reports whether X does not hold.
func (e *Not) Match(r Record) bool { return !e.X.Match(r) }

// Match reports whether some value satisfies the comparison.
func (c *Compare) Match(r Record) bool {
	for v := range r.Values(c.Field) {
		if c.Op == IsNull {
			return c.Negate
		}
		if holds, fits := c.holds(v); fits && holds != c.Negate {
			return true
		}
	}
	return c.Op == IsNull && !c.Negate
}

// holds compares one value. fits is false where value and literals are of types that do not compare.
func (c *Compare) holds(v Value) (holds, fits bool) {
	for _, literal := range c.Values {
		order, comparable := v.compare(literal, c.Field.Type())
		if !comparable {
			continue
		}
		fits = true
		if c.satisfied(order, v, literal) {
			return true, true
		}
	}
	return false, fits
}

// compare orders a value and a literal.
func (v Value) compare(l Literal, kind Type) (order int, comparable bool) {
	switch {
	case kind == Time:
		return cmp.Compare(v.Nanos, l.Nanos), true
	case l.IsNumber:
		return cmp.Compare(v.Number, l.Number), v.IsNumber
	}
	return strings.Compare(v.Text, l.Text), true
}

func (c *Compare) satisfied(order int, v Value, l Literal) bool {
	switch c.Op {
	case Eq, In:
		return order == 0
	case Ne:
		return order != 0
	case Lt:
		return order < 0
	case Le:
		return order <= 0
	case Gt:
		return order > 0
	case Ge:
		return order >= 0
	case Like:
		return Matches(v.Text, l.Text, false)
	case ILike:
		return Matches(v.Text, l.Text, true)
	}
	return false
}

// Matches reports whether all of text fits a LIKE pattern: % is any text, _ one character, and everything else itself.
// With foldCase letters fit that differ in case alone, by Unicode's simple folding. It takes time in proportion to the
// product of the lengths at most.
func Matches(text, pattern string, foldCase bool) bool {
	back, mark := -1, 0 // where in the pattern the last % stood, and in the text what it does not cover yet
	t, p := 0, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '%' {
			back, mark = p, t
			p++
			continue
		}
		if size, ok := one(text[t:], pattern[p:], foldCase); ok {
			t, p = t+size, p+firstSize(pattern[p:])
			continue
		}
		if back < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[mark:])
		mark += size
		t, p = mark, back+1
	}
	return strings.Trim(pattern[p:], "%") == ""
}

// one reports whether the first character of text fits that of the pattern, and the former's size.
func one(text, pattern string, foldCase bool) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	r, size := utf8.DecodeRuneInString(text)
	want, _ := utf8.DecodeRuneInString(pattern)
	return size, want == '_' || r == want || foldCase && folds(r, want)
}

// folds reports whether two characters differ in case alone.
func folds(r, want rune) bool {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == want {
			return true
		}
	}
	return false
}

// firstSize is the size of the first character.
func firstSize(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

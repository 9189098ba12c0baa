package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxDepth bounds how deep parentheses and NOT may nest.
const maxDepth = 200

// maxPattern bounds the pattern of LIKE, in bytes.
const maxPattern = 4096

// Parse reads a filter. Times such as '7d ago' count from now. The error is a *SyntaxError. An empty filter is refused.
func Parse(filter string, now time.Time) (Expr, error) {
	tokens, err := scan(filter)
	if err != nil {
		return nil, err
	}
	p := &parser{filter: filter, tokens: tokens, now: now}
	expr, err := p.or()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != end {
		return nil, p.fail(t, "expected and, or, or the end, found %s", t.describe())
	}
	return expr, nil
}

// parser reads tokens from left to right.
type parser struct {
	filter string
	tokens []token
	at     int
	depth  int
	now    time.Time
}

func (p *parser) peek() token { return p.tokens[p.at] }

// take returns the next token and moves on, but never past the end.
func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept takes the keyword or symbol if it comes next.
func (p *parser) accept(want string) bool {
	if t := p.peek(); t.is(want) || t.kind == symbol && t.text == want {
		p.take()
		return true
	}
	return false
}

func (p *parser) fail(t token, format string, args ...any) error {
	return &SyntaxError{Filter: p.filter, Offset: t.offset, Reason: fmt.Sprintf(format, args...)}
}

func (p *parser) or() (Expr, error) {
	x, err := p.and()
	for err == nil && p.accept("or") {
		var y Expr
		y, err = p.and()
		x = &Or{x, y}
	}
	return x, err
}

func (p *parser) and() (Expr, error) {
	x, err := p.not()
	for err == nil && p.accept("and") {
		var y Expr
		y, err = p.not()
		x = &And{x, y}
	}
	return x, err
}

func (p *parser) not() (Expr, error) {
	t := p.peek()
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(t, "it nests deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"):
		x, err := p.not()
		return &Not{x}, err
	case p.accept("("):
		x, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.fail(p.peek(), "expected ) for the ( at column %d, found %s", t.offset+1, p.peek().describe())
		}
		return x, nil
	}
	return p.compare()
}

// compare reads FIELD OP VALUE.
func (p *parser) compare() (Expr, error) {
	field, err := p.field()
	if err != nil {
		return nil, err
	}
	c := &Compare{Field: field}
	if p.accept("is") {
		c.Op, c.Negate = IsNull, p.accept("not")
		if !p.accept("null") {
			return nil, p.fail(p.peek(), "expected NULL, found %s", p.peek().describe())
		}
		return c, nil
	}
	c.Negate = p.accept("not")
	at := p.take()
	if c.Op, err = p.operator(at, c.Negate); err != nil {
		return nil, err
	}
	if c.Op == In {
		c.Values, err = p.list(c)
	} else {
		var v Literal
		v, err = p.literal(c)
		c.Values = []Literal{v}
	}
	if err != nil {
		return nil, err
	}
	return c.withStates(), nil
}

// comparisons lists the operators for an error.
const comparisons = "= != < <= > >= LIKE ILIKE IN, IS NULL"

func (p *parser) operator(t token, negated bool) (Op, error) {
	words := []Op{Like, ILike, In}
	for _, op := range words {
		if t.is(string(op)) {
			return op, nil
		}
	}
	if negated {
		return "", p.fail(t, "expected LIKE, ILIKE or IN after NOT, found %s", t.describe())
	}
	if op := Op(t.text); t.kind == symbol && slices.Contains([]Op{Eq, Ne, Lt, Le, Gt, Ge}, op) {
		return op, nil
	}
	return "", p.fail(t, "expected a comparison (%s), found %s", comparisons, t.describe())
}

// list reads the values of IN.
func (p *parser) list(c *Compare) ([]Literal, error) {
	if !p.accept("(") {
		return nil, p.fail(p.peek(), "expected ( after IN, found %s", p.peek().describe())
	}
	var values []Literal
	for {
		v, err := p.literal(c)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if p.accept(")") {
			return values, nil
		}
		if !p.accept(",") {
			return nil, p.fail(p.peek(), "expected , or ) in the list, found %s", p.peek().describe())
		}
	}
}

// field reads a name such as params.lr, params."learning rate" or, for attributes, state alone.
func (p *parser) field() (Field, error) {
	t := p.take()
	if t.kind != word && t.kind != quoted || t.kind == word && (isNumber(t.text) || isKeyword(t)) {
		return Field{}, p.fail(t, "expected a field such as params.lr or state, found %s", t.describe())
	}
	if t.kind == quoted {
		return p.named(t, Attributes, t.text)
	}
	head, name, dotted := strings.Cut(t.text, ".")
	if dotted && name == "" { // params."learning rate"
		q := p.peek()
		if q.kind != quoted || !q.joined {
			return Field{}, p.fail(q, "expected a name after %q, found %s", t.text, q.describe())
		}
		name = p.take().text
	}
	if !dotted {
		return p.named(t, Attributes, head)
	}
	entity, ok := entityNames[strings.ToLower(head)]
	if !ok {
		return Field{}, p.fail(t, "unknown %q, known are params, metrics, tags, attributes, metadata, artifacts, parents, datasets", head)
	}
	return p.named(t, entity, name)
}

func (p *parser) named(t token, e Entity, name string) (Field, error) {
	known, ok := canonical(e, name)
	if !ok {
		return Field{}, p.fail(t, "%s have no %q, known are %s", e, name, strings.Join(fieldNames(e), ", "))
	}
	if known == "" {
		return Field{}, p.fail(t, "a name is empty")
	}
	return Field{e, known}, nil
}

// literal reads a value and gives it the type of the field.
func (p *parser) literal(c *Compare) (Literal, error) {
	t := p.take()
	v := Literal{Text: t.text}
	switch {
	case t.kind == text || t.kind == quoted:
	case t.kind == word && isNumber(t.text):
		v.Number, _ = strconv.ParseFloat(t.text, 64)
		v.IsNumber = true
	case t.is("true") || t.is("false"):
		v.Text = strings.ToLower(t.text)
	case t.kind == word:
		return v, p.fail(t, "expected a number or a text in quotes, found %s; write '%s'", t.describe(), t.text)
	default:
		return v, p.fail(t, "expected a number or a text in quotes, found %s", t.describe())
	}
	return p.typed(t, c, v)
}

// typed fits a literal to its field and operator.
func (p *parser) typed(t token, c *Compare, v Literal) (Literal, error) {
	kind := c.Field.Type()
	switch {
	case c.Op == Like || c.Op == ILike:
		if v.IsNumber || kind == Number || kind == Time {
			return v, p.fail(t, "%s needs a field of text and a pattern in quotes", c.Op)
		}
		if len(v.Text) > maxPattern {
			return v, p.fail(t, "the pattern is longer than %d bytes", maxPattern)
		}
	case kind == Time:
		when, err := p.time(v)
		if err != "" {
			return v, p.fail(t, "%s", err)
		}
		v.Nanos, v.IsNumber, v.Number = when.UnixNano(), true, float64(when.UnixNano())
	case kind == Number && !v.IsNumber:
		return v, p.fail(t, "%s.%s is a number, %q is none", c.Field.Entity, c.Field.Name, v.Text)
	case kind == Text:
		v.IsNumber, v.Number = false, 0
	}
	return v, nil
}

// withStates turns MLflow's words for states into ours.
func (c *Compare) withStates() *Compare {
	if c.Field != (Field{Attributes, "state"}) || c.Op == Like || c.Op == ILike {
		return c
	}
	var values []Literal
	for _, v := range c.Values {
		upper := strings.ToUpper(v.Text)
		for _, ours := range append(states[upper], upper) {
			if v := (Literal{Text: ours}); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	if len(values) > 1 { // = 'FINISHED' asks for either word
		switch c.Op {
		case Eq:
			return &Compare{Field: c.Field, Op: In, Values: values}
		case Ne:
			return &Compare{Field: c.Field, Op: In, Negate: true, Values: values}
		}
	}
	return &Compare{Field: c.Field, Op: c.Op, Negate: c.Negate, Values: values}
}

// isKeyword reports whether the token is a word of the language; a field of that name stands in quotes.
func isKeyword(t token) bool {
	return slices.ContainsFunc([]string{"and", "or", "not", "like", "ilike", "in", "is", "null"}, t.is)
}

// isNumber reports whether all of s is a number.
func isNumber(s string) bool {
	return s != "" && numberSize(s) == len(s)
}

package dataset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// Predicate is a condition on the rows of a dataset.
type Predicate struct {
	text string
	root condition
}

// String is the text that was parsed.
func (p *Predicate) String() string { return p.text }

// condition is a node of a predicate. Its value is SQL's: true, false, or
// unknown where a column is null.
type condition interface {
	// bind checks the condition against the columns of a dataset.
	bind(schema *arrow.Schema) (bound, error)
}

// bound is a condition whose columns are known.
type bound interface {
	// eval gives the value for each row.
	eval(row func(column int) arrow.Array, rows int) ([]truth, error)
	// possible tells whether it can be true of any row, and whether it can be
	// false of any, by what is known of the columns.
	possible(stats func(column int) *columnStats) (canBeTrue, canBeFalse bool)
	// columns adds the columns of the schema that it reads.
	columns(list []int) []int
}

// truth is one of three values.
type truth uint8

const (
	no truth = iota
	yes
	unknown
)

// ParsePredicate reads a condition such as
//
//	age > 3 and (country = 'DE' or country is null) and not kind in ('a', 'b')
//
// with the operators = != <> < <= > >=, in, is null, is not null, and, or, not,
// and parentheses. Values are numbers, 'text' (a quote in it is doubled), true
// and false; dates and times are written as text. A column whose name is not
// made of letters, digits, "_" and "." stands in double quotes. Keywords are of
// any case. The error has kind store.ErrInvalid and says where.
func ParsePredicate(text string) (*Predicate, error) {
	p := &predicateParser{text: text}
	p.next()
	root := p.or(0)
	if p.err == nil && p.token.kind != endToken {
		p.failf("%q is not expected here", p.token.text)
	}
	if p.err != nil {
		return nil, failure("parse condition", "", store.ErrInvalid, fmt.Errorf("%w in %q", p.err, text))
	}
	return &Predicate{text: text, root: root}, nil
}

// errNoColumn marks a predicate that asks for a column that is not there.
var errNoColumn = errors.New("no column")

// kindOfPredicate is the kind of an error of bind.
func kindOfPredicate(err error) error {
	if errors.Is(err, errNoColumn) {
		return store.ErrNotExist
	}
	return store.ErrInvalid
}

type andCondition struct{ a, b condition }
type orCondition struct{ a, b condition }
type notCondition struct{ a condition }

func (c *andCondition) bind(schema *arrow.Schema) (bound, error) {
	a, err := c.a.bind(schema)
	if err != nil {
		return nil, err
	}
	b, err := c.b.bind(schema)
	return &boundAnd{a, b}, err
}

func (c *orCondition) bind(schema *arrow.Schema) (bound, error) {
	a, err := c.a.bind(schema)
	if err != nil {
		return nil, err
	}
	b, err := c.b.bind(schema)
	return &boundOr{a, b}, err
}

func (c *notCondition) bind(schema *arrow.Schema) (bound, error) {
	a, err := c.a.bind(schema)
	return &boundNot{a}, err
}

type boundAnd struct{ a, b bound }
type boundOr struct{ a, b bound }
type boundNot struct{ a bound }

func (c *boundAnd) columns(list []int) []int { return c.b.columns(c.a.columns(list)) }
func (c *boundOr) columns(list []int) []int  { return c.b.columns(c.a.columns(list)) }
func (c *boundNot) columns(list []int) []int { return c.a.columns(list) }

func (c *boundAnd) eval(row func(int) arrow.Array, rows int) ([]truth, error) {
	a, b, err := evalBoth(c.a, c.b, row, rows)
	for i, v := range b {
		switch {
		case a[i] == no || v == no:
			a[i] = no
		case v == unknown:
			a[i] = unknown
		}
	}
	return a, err
}

func (c *boundOr) eval(row func(int) arrow.Array, rows int) ([]truth, error) {
	a, b, err := evalBoth(c.a, c.b, row, rows)
	for i, v := range b {
		switch {
		case a[i] == yes || v == yes:
			a[i] = yes
		case v == unknown:
			a[i] = unknown
		}
	}
	return a, err
}

func evalBoth(x, y bound, row func(int) arrow.Array, rows int) (a, b []truth, err error) {
	if a, err = x.eval(row, rows); err != nil {
		return nil, nil, err
	}
	if b, err = y.eval(row, rows); err != nil {
		return nil, nil, err
	}
	return a, b, nil
}

func (c *boundNot) eval(row func(int) arrow.Array, rows int) ([]truth, error) {
	a, err := c.a.eval(row, rows)
	for i, v := range a {
		switch v {
		case yes:
			a[i] = no
		case no:
			a[i] = yes
		}
	}
	return a, err
}

func (c *boundAnd) possible(stats func(int) *columnStats) (bool, bool) {
	at, af := c.a.possible(stats)
	bt, bf := c.b.possible(stats)
	return at && bt, af || bf
}

func (c *boundOr) possible(stats func(int) *columnStats) (bool, bool) {
	at, af := c.a.possible(stats)
	bt, bf := c.b.possible(stats)
	return at || bt, af && bf
}

func (c *boundNot) possible(stats func(int) *columnStats) (bool, bool) {
	t, f := c.a.possible(stats)
	return f, t
}

// findColumn looks a name up.
func findColumn(schema *arrow.Schema, name string) (int, arrow.Field, error) {
	at := schema.FieldIndices(name)
	if len(at) != 1 {
		return 0, arrow.Field{}, fmt.Errorf("%w: %d columns are named %q", errNoColumn, len(at), name)
	}
	return at[0], schema.Field(at[0]), nil
}

// keyword compares without case.
func keyword(text, word string) bool { return strings.EqualFold(text, word) }

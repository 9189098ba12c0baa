package filter

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Order is what runs are sorted by: a field and a direction. Runs without a value come last either way.
type Order struct {
	Field      Field
	Descending bool
}

// ParseOrder reads a list such as "metrics.accuracy DESC, started". The error is a *SyntaxError.
func ParseOrder(list string) ([]Order, error) {
	tokens, err := scan(list)
	if err != nil {
		return nil, err
	}
	p := &parser{filter: list, tokens: tokens, now: time.Time{}}
	var orders []Order
	for {
		field, err := p.field()
		if err != nil {
			return nil, err
		}
		o := Order{Field: field}
		switch {
		case p.accept("desc"):
			o.Descending = true
		case p.accept("asc"):
		}
		orders = append(orders, o)
		if p.peek().kind == end {
			return orders, nil
		}
		if !p.accept(",") {
			return nil, p.fail(p.peek(), "expected ASC, DESC, a comma or the end, found %s", p.peek().describe())
		}
	}
}

// ParseFields reads a list of fields such as "id, params.lr, metrics.accuracy". The error is a *SyntaxError.
func ParseFields(list string) ([]Field, error) {
	tokens, err := scan(list)
	if err != nil {
		return nil, err
	}
	p := &parser{filter: list, tokens: tokens}
	var fields []Field
	for {
		field, err := p.field()
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if p.peek().kind == end {
			return fields, nil
		}
		if !p.accept(",") {
			return nil, p.fail(p.peek(), "expected a comma or the end, found %s", p.peek().describe())
		}
	}
}

// String is the order as it is written.
func (o Order) String() string {
	if o.Descending {
		return o.Field.String() + " DESC"
	}
	return o.Field.String()
}

// Sort sorts runs by the first order in which they differ, and otherwise leaves them as they are. Numbers come before
// texts.
func Sort[R Record](runs []R, orders []Order) {
	slices.SortStableFunc(runs, func(x, y R) int {
		for _, o := range orders {
			if c := o.compare(x, y); c != 0 {
				return c
			}
		}
		return 0
	})
}

func (o Order) compare(x, y Record) int {
	vx, hasX := first(x, o.Field)
	vy, hasY := first(y, o.Field)
	switch {
	case !hasX || !hasY:
		return cmp.Compare(rank(hasX), rank(hasY))
	case o.Descending:
		return compareValues(vy, vx)
	}
	return compareValues(vx, vy)
}

// rank puts what has a value first.
func rank(has bool) int {
	if has {
		return 0
	}
	return 1
}

func compareValues(x, y Value) int {
	switch {
	case x.Nanos != 0 || y.Nanos != 0:
		return cmp.Compare(x.Nanos, y.Nanos)
	case x.IsNumber && y.IsNumber:
		return cmp.Or(cmp.Compare(x.Number, y.Number), strings.Compare(x.Text, y.Text))
	case x.IsNumber != y.IsNumber:
		return cmp.Compare(rank(x.IsNumber), rank(y.IsNumber))
	}
	return strings.Compare(x.Text, y.Text)
}

// first is the first value of a field.
func first(r Record, f Field) (Value, bool) {
	for v := range r.Values(f) {
		return v, true
	}
	return Value{}, false
}

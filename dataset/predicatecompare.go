package dataset

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// comparison is a column against a value.
type comparison struct {
	column, operator string
	value            token
}

// nullCondition is whether a column is null.
type nullCondition struct{ column string }

func (c *nullCondition) bind(schema *arrow.Schema) (bound, error) {
	at, _, err := findColumn(schema, c.column)
	return &boundNull{at}, err
}

type boundNull struct{ column int }

func (c *boundNull) columns(list []int) []int { return addMissing(list, c.column) }

func (c *boundNull) eval(column func(int) arrow.Array, rows int) ([]truth, error) {
	out := make([]truth, rows)
	a := column(c.column)
	for i := range out {
		if a.IsNull(i) {
			out[i] = yes
		}
	}
	return out, nil
}

func (c *boundNull) possible(stats func(int) *columnStats) (bool, bool) {
	s := stats(c.column)
	if s == nil || !s.hasNulls {
		return true, true
	}
	return s.nulls > 0, s.nulls < s.rows
}

// bind chooses how values of the column's type are compared, and reads the value
// in that type.
func (c *comparison) bind(schema *arrow.Schema) (bound, error) {
	at, field, err := findColumn(schema, c.column)
	if err != nil {
		return nil, err
	}
	b, err := c.bindType(at, field.Type)
	if err != nil {
		return nil, fmt.Errorf("column %q is of type %s: %w", c.column, field.Type, err)
	}
	return b, nil
}

func (c *comparison) bindType(at int, kind arrow.DataType) (bound, error) {
	accept := acceptOf(c.operator)
	switch kind := kind.(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType, *arrow.LargeBinaryType:
		if c.value.kind != textToken {
			return nil, fmt.Errorf("%s is not in quotes", c.value.text)
		}
		return &boundComparison[string]{at, accept, c.value.text, stringsOf, textStats}, nil
	case *arrow.BooleanType:
		if c.value.kind != wordToken {
			return nil, fmt.Errorf("%q is neither true nor false", c.value.text)
		}
		return &boundComparison[int64]{at, accept, boolNumber(keyword(c.value.text, "true")), boolsOf, intStats}, nil
	case *arrow.Float32Type, *arrow.Float64Type:
		return c.bindFloat(at, accept)
	case *arrow.Date32Type:
		when, err := c.time(time.UTC)
		return &boundComparison[int64]{at, accept, floorDiv(when.Unix(), 24*60*60), integersOf, intStats}, exactly(err, when.Truncate(24*time.Hour).Equal(when))
	case *arrow.TimestampType:
		when, err := c.time(time.UTC)
		return &boundComparison[int64]{at, accept, timeIn(when, kind.Unit), integersOf, intStats}, err
	case *arrow.Uint64Type:
		return nil, fmt.Errorf("it cannot be compared")
	}
	if !arrow.IsInteger(kind.ID()) {
		return nil, fmt.Errorf("it cannot be compared")
	}
	return c.bindInteger(at, accept)
}

func exactly(err error, whole bool) error {
	if err == nil && !whole {
		return fmt.Errorf("a date has no time of day")
	}
	return err
}

func (c *comparison) bindFloat(at int, accept accepted) (bound, error) {
	v, err := strconv.ParseFloat(c.value.text, 64)
	if err != nil || c.value.kind != numberToken {
		return nil, fmt.Errorf("%q is not a number", c.value.text)
	}
	return &boundComparison[float64]{at, accept, v, floatsOf, floatStats}, nil
}

// bindInteger compares integers with integers exactly, and with a fraction by
// the integers next to it.
func (c *comparison) bindInteger(at int, accept accepted) (bound, error) {
	if c.value.kind != numberToken {
		return nil, fmt.Errorf("%q is not a number", c.value.text)
	}
	if v, err := strconv.ParseInt(c.value.text, 10, 64); err == nil {
		return &boundComparison[int64]{at, accept, v, integersOf, intStats}, nil
	}
	v, err := strconv.ParseFloat(c.value.text, 64)
	if err != nil || math.Abs(v) > 1<<62 {
		return nil, fmt.Errorf("%q is not a number that fits", c.value.text)
	}
	floor := int64(math.Floor(v))
	if float64(floor) == v {
		return &boundComparison[int64]{at, accept, floor, integersOf, intStats}, nil
	}
	// No integer equals it: those up to floor are less, the others are greater.
	return &boundComparison[int64]{at, accepted{less: accept.less, equal: accept.less, greater: accept.greater}, floor, integersOf, intStats}, nil
}

// time reads a date, or a date and a time, in UTC unless it names its zone.
func (c *comparison) time(zone *time.Location) (time.Time, error) {
	if c.value.kind == textToken {
		text := strings.Replace(c.value.text, " ", "T", 1)
		for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05.999999999", time.RFC3339Nano} {
			if when, err := time.ParseInLocation(layout, text, zone); err == nil {
				return when, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date or time in quotes, such as '2026-11-20'", c.value.text)
}

func timeIn(when time.Time, unit arrow.TimeUnit) int64 {
	switch unit {
	case arrow.Second:
		return when.Unix()
	case arrow.Millisecond:
		return when.UnixMilli()
	case arrow.Microsecond:
		return when.UnixMicro()
	}
	return when.UnixNano()
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

func boolNumber(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// accepted is what an operator accepts of a value against its right side.
type accepted struct{ less, equal, greater bool }

func acceptOf(operator string) accepted {
	switch operator {
	case "=":
		return accepted{equal: true}
	case "!=":
		return accepted{less: true, greater: true}
	case "<":
		return accepted{less: true}
	case "<=":
		return accepted{less: true, equal: true}
	case ">":
		return accepted{greater: true}
	}
	return accepted{equal: true, greater: true}
}

// boundComparison compares a column, read as values of T, with a value.
type boundComparison[T cmp.Ordered] struct {
	column int
	accept accepted
	value  T
	values func(arrow.Array) (func(i int) T, error)
	stats  func(*columnStats) (least, most T, ok bool)
}

func (c *boundComparison[T]) columns(list []int) []int { return addMissing(list, c.column) }

func (c *boundComparison[T]) eval(column func(int) arrow.Array, rows int) ([]truth, error) {
	a := column(c.column)
	value, err := c.values(a)
	if err != nil {
		return nil, err
	}
	out := make([]truth, rows)
	nulls := a.NullN() > 0
	for i := range out {
		v := value(i)
		switch {
		case nulls && a.IsNull(i):
			out[i] = unknown
		case v < c.value && c.accept.less, v == c.value && c.accept.equal, v > c.value && c.accept.greater:
			out[i] = yes
		case v != v && c.accept.less && c.accept.greater: // NaN differs from everything
			out[i] = yes
		}
	}
	return out, nil
}

func (c *boundComparison[T]) possible(stats func(int) *columnStats) (canBeTrue, canBeFalse bool) {
	s := stats(c.column)
	if s == nil {
		return true, true
	}
	if s.hasNulls && s.nulls == s.rows {
		return false, false
	}
	least, most, ok := c.stats(s)
	if !ok {
		return true, true
	}
	within := func(a accepted) bool {
		return a.less && least < c.value || a.greater && most > c.value || a.equal && least <= c.value && c.value <= most
	}
	canBeTrue, canBeFalse = within(c.accept), within(accepted{!c.accept.less, !c.accept.equal, !c.accept.greater})
	// Statistics leave NaN out, which differs from every number.
	if _, float := any(c.value).(float64); float {
		differs := c.accept.less && c.accept.greater
		return canBeTrue || differs, canBeFalse || !differs
	}
	return canBeTrue, canBeFalse
}

func stringsOf(a arrow.Array) (func(int) string, error) {
	switch a := a.(type) {
	case *array.String:
		return a.Value, nil
	case *array.LargeString:
		return a.Value, nil
	case *array.Binary:
		return a.ValueString, nil
	case *array.LargeBinary:
		return a.ValueString, nil
	}
	return nil, unsupported("a comparison of %s", a.DataType())
}

func boolsOf(a arrow.Array) (func(int) int64, error) {
	if a, ok := a.(*array.Boolean); ok {
		return func(i int) int64 { return boolNumber(a.Value(i)) }, nil
	}
	return nil, unsupported("a comparison of %s", a.DataType())
}

func floatsOf(a arrow.Array) (func(int) float64, error) {
	switch a := a.(type) {
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }, nil
	case *array.Float64:
		return a.Value, nil
	}
	return nil, unsupported("a comparison of %s", a.DataType())
}

func integersOf(a arrow.Array) (func(int) int64, error) {
	switch a := a.(type) {
	case *array.Int64:
		return a.Value, nil
	case *array.Int32:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Int16:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Int8:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Uint32:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Uint16:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Uint8:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Date32:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	case *array.Timestamp:
		return func(i int) int64 { return int64(a.Value(i)) }, nil
	}
	return nil, unsupported("a comparison of %s", a.DataType())
}

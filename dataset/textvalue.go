package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// textColumn takes the texts of one column.
type textColumn struct {
	field   arrow.Field
	builder array.Builder
	append  func(text []byte) bool // false: the text is no value of the type
}

// null appends a null.
func (c *textColumn) null() error {
	if !c.field.Nullable {
		return errors.New("the schema says that there are no nulls")
	}
	c.builder.AppendNull()
	return nil
}

// text appends a value.
func (c *textColumn) text(text []byte) error {
	if !c.append(text) {
		return fmt.Errorf("it is no %s", c.field.Type)
	}
	return nil
}

func newTextColumn(builder array.Builder, field arrow.Field) (textColumn, error) {
	c := textColumn{field: field, builder: builder}
	switch b := builder.(type) {
	case *array.Int8Builder:
		c.append = integers(8, func(n int64) { b.Append(int8(n)) })
	case *array.Int16Builder:
		c.append = integers(16, func(n int64) { b.Append(int16(n)) })
	case *array.Int32Builder:
		c.append = integers(32, func(n int64) { b.Append(int32(n)) })
	case *array.Int64Builder:
		c.append = integers(64, b.Append)
	case *array.Uint8Builder:
		c.append = naturals(8, func(n uint64) { b.Append(uint8(n)) })
	case *array.Uint16Builder:
		c.append = naturals(16, func(n uint64) { b.Append(uint16(n)) })
	case *array.Uint32Builder:
		c.append = naturals(32, func(n uint64) { b.Append(uint32(n)) })
	case *array.Uint64Builder:
		c.append = naturals(64, b.Append)
	case *array.Float32Builder:
		c.append = reals(32, func(x float64) { b.Append(float32(x)) })
	case *array.Float64Builder:
		c.append = reals(64, b.Append)
	default:
		return c.other()
	}
	return c, nil
}

// other is newTextColumn for what is no number.
func (c textColumn) other() (textColumn, error) {
	switch b := c.builder.(type) {
	case *array.BooleanBuilder:
		c.append = taken(parseBool, b.Append)
	case *array.StringBuilder:
		c.append = func(text []byte) bool {
			b.BinaryBuilder.Append(text)
			return utf8.Valid(text)
		}
	case *array.Date32Builder:
		c.append = taken(parseDate, b.Append)
	case *array.TimestampBuilder:
		c.append = taken(timestamps(b.Type().(*arrow.TimestampType)), b.Append)
	case *array.Decimal128Builder:
		kind := b.Type().(*arrow.Decimal128Type)
		c.append = taken(decimalTexts(kind), b.Append)
	default:
		return c, fmt.Errorf("column %q: text cannot hold a %s", c.field.Name, c.field.Type)
	}
	return c, nil
}

// taken appends what parse makes of a text.
func taken[T any](parse func([]byte) (T, bool), add func(T)) func([]byte) bool {
	return func(text []byte) bool {
		value, ok := parse(text)
		if ok {
			add(value)
		}
		return ok
	}
}

func integers(bits int, add func(int64)) func([]byte) bool {
	return func(text []byte) bool {
		n, err := strconv.ParseInt(string(text), 10, bits)
		if err == nil {
			add(n)
		}
		return err == nil
	}
}

func naturals(bits int, add func(uint64)) func([]byte) bool {
	return func(text []byte) bool {
		n, err := strconv.ParseUint(string(text), 10, bits)
		if err == nil {
			add(n)
		}
		return err == nil
	}
}

// reals takes decimal notation, NaN and Inf in any case, not what else Go calls
// a number: hexadecimal digits and underscores. What is too large is refused.
func reals(bits int, add func(float64)) func([]byte) bool {
	return func(text []byte) bool {
		for _, c := range text {
			if c == 'x' || c == 'X' || c == '_' {
				return false
			}
		}
		x, err := strconv.ParseFloat(string(text), bits)
		if err == nil {
			add(x)
		}
		return err == nil
	}
}

func parseBool(text []byte) (value, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE", "1":
		return true, true
	case "false", "False", "FALSE", "0":
		return false, true
	}
	return false, false
}

// decimalTexts refuses digits that the type has no room for.
func decimalTexts(kind *arrow.Decimal128Type) func([]byte) (decimal128.Num, bool) {
	return func(text []byte) (decimal128.Num, bool) {
		behind, point := int32(0), false
		for i, c := range text {
			switch {
			case c == '.' && !point:
				point = true
			case (c == '-' || c == '+') && i == 0:
			case c < '0' || c > '9':
				return decimal128.Num{}, false
			case point:
				behind++
			}
		}
		if behind > kind.Scale {
			return decimal128.Num{}, false
		}
		n, err := decimal128.FromString(string(text), kind.Precision, kind.Scale)
		return n, err == nil
	}
}

// digits reads a number of exactly n digits.
func digits(text []byte, n int) (value int, rest []byte, ok bool) {
	if len(text) < n {
		return 0, nil, false
	}
	for _, c := range text[:n] {
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		value = value*10 + int(c-'0')
	}
	return value, text[n:], true
}

// day reads 2006-01-02, with what follows.
func day(text []byte) (date time.Time, rest []byte, ok bool) {
	year, rest, ok := digits(text, 4)
	if !ok || len(rest) < 6 || rest[0] != '-' || rest[3] != '-' {
		return time.Time{}, nil, false
	}
	month, _, ok1 := digits(rest[1:], 2)
	of, rest, ok2 := digits(rest[4:], 2)
	if !ok1 || !ok2 || month < 1 || month > 12 || of < 1 {
		return time.Time{}, nil, false
	}
	date = time.Date(year, time.Month(month), of, 0, 0, 0, 0, time.UTC)
	return date, rest, date.Day() == of // else the month is shorter
}

const secondsOfDay = 24 * 60 * 60

func parseDate(text []byte) (arrow.Date32, bool) {
	date, rest, ok := day(text)
	return arrow.Date32(date.Unix() / secondsOfDay), ok && len(rest) == 0
}

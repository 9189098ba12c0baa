package dataset

import (
	"bytes"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// guess is what the texts of one column may be: a candidate for each type, until
// a text refutes it.
type guess struct {
	seen  bool // a text that is not null
	types []candidate
}

type candidate struct {
	kind arrow.DataType
	fits func(text []byte) bool
}

// newGuess lists the types in the order of preference. Text fits everything.
func newGuess() *guess {
	us, ns := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Nanosecond}
	utc := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	fine := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	g := &guess{types: []candidate{
		{arrow.FixedWidthTypes.Boolean, looksBool},
		{arrow.PrimitiveTypes.Int64, looksInteger},
		{arrow.PrimitiveTypes.Float64, looksReal},
		{arrow.FixedWidthTypes.Date32, taken(parseDate, func(arrow.Date32) {})},
	}}
	for _, kind := range []*arrow.TimestampType{us, ns, utc, fine} {
		g.types = append(g.types, candidate{kind, taken(timestamps(kind), func(arrow.Timestamp) {})})
	}
	return g
}

func (g *guess) see(text []byte) {
	g.seen = true
	kept := g.types[:0]
	for _, c := range g.types {
		if c.fits(text) {
			kept = append(kept, c)
		}
	}
	g.types = kept
}

// kind is text for a column that is null in all rows seen: text takes whatever
// follows.
func (g *guess) kind() arrow.DataType {
	if !g.seen || len(g.types) == 0 {
		return arrow.BinaryTypes.String
	}
	return g.types[0].kind
}

// looksBool leaves 0 and 1 to the numbers.
func looksBool(text []byte) bool {
	_, ok := parseBool(text)
	return ok && len(text) > 1
}

// looksInteger takes a number with a leading zero, or with more digits than an
// int64 has room for, for a code: as text it keeps them.
func looksInteger(text []byte) bool {
	return integers(64, func(int64) {})(text) && !leadingZero(text)
}

func looksReal(text []byte) bool {
	if !reals(64, func(float64) {})(text) || leadingZero(text) {
		return false
	}
	return bytes.ContainsAny(text, ".eEnN") || looksInteger(text)
}

func leadingZero(text []byte) bool {
	digits := strings.TrimLeft(string(text), "+-")
	return len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
}

// inferCSV guesses the types of columns from the rows of a block. Malformed rows
// end the guessing; whoever parses the block says what is wrong with them.
func inferCSV(names []string, block []byte, f *csvFile) *arrow.Schema {
	guesses := make([]*guess, len(names))
	for i := range guesses {
		guesses[i] = newGuess()
	}
	rows := newCSVRows(block, f.delim)
	for rows.more() {
		for i := 0; ; i++ {
			field, err := rows.next()
			if err != nil {
				return guessed(names, guesses)
			}
			if i < len(guesses) && (field.quoted || !f.isNull(field.text)) {
				guesses[i].see(field.text)
			}
			if field.last {
				break
			}
		}
	}
	return guessed(names, guesses)
}

func guessed(names []string, guesses []*guess) *arrow.Schema {
	var list []arrow.Field
	for i, name := range names {
		list = append(list, arrow.Field{Name: name, Type: guesses[i].kind(), Nullable: true})
	}
	return arrow.NewSchema(list, nil)
}

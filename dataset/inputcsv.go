package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// csvFile is what is known of a CSV file before its rows are read.
type csvFile struct {
	delim    byte
	nulls    []string
	inferred bool
	schema   *arrow.Schema
	order    []int          // column of the schema, for each of the file
	room     []atomic.Int64 // bytes that the texts of a column took in a block, for the next one
}

// csv reads a CSV file.
func (r *reading) csv(ctx context.Context, s *stream) error {
	f := &csvFile{delim: ',', nulls: []string{""}, inferred: r.given == nil}
	if s.format == "tsv" {
		f.delim = '\t'
	}
	if r.options.Delimiter != 0 {
		f.delim = r.options.Delimiter
	}
	if r.options.Nulls != nil {
		f.nulls = r.options.Nulls
	}
	if mark, _ := s.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = s.Discard(len(mark)) // what was peeked at is there
	}
	cut := &blocks{r: s, cut: cutRows}
	first, err := cut.next()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty, without even a header")
	}
	if err != nil {
		return err
	}
	if first, err = r.csvHeader(f, first); err != nil {
		return err
	}
	next := func() ([]byte, error) {
		if block := first; len(block) > 0 {
			first = nil
			return block, nil
		}
		return cut.next()
	}
	f.room = make([]atomic.Int64, f.schema.NumFields())
	return r.parsed(ctx, next, f.parse)
}

// parsed hands on what the blocks of a file hold. Rows are counted here, since
// only here it is known how many came before a block.
func (r *reading) parsed(ctx context.Context, next func() ([]byte, error), parse func([]byte) (arrow.Record, error)) error {
	rows := int64(0)
	err := inOrder(ctx, next, parse, func(batch arrow.Record) error {
		defer batch.Release()
		rows += batch.NumRows()
		return r.emit(ctx, batch)
	})
	var bad *rowError
	if errors.As(err, &bad) {
		bad.row += rows
	}
	return err
}

// csvHeader settles the columns by the header and, where no schema is known, by
// the first rows, and returns what follows the header.
func (r *reading) csvHeader(f *csvFile, first []byte) ([]byte, error) {
	if r.options.NoHeader {
		f.schema = r.given
		for i := range r.given.NumFields() {
			f.order = append(f.order, i)
		}
		return first, r.take(r.given)
	}
	rows := newCSVRows(first, f.delim)
	names, err := headerNames(rows)
	if err != nil {
		return nil, err
	}
	rest := first[rows.pos:]
	if r.schema == nil && r.given == nil {
		if err := r.take(inferCSV(names, rest, f)); err != nil {
			return nil, err
		}
	} else if r.schema == nil {
		r.schema = r.given
	}
	f.schema = r.schema
	f.order, err = matchColumns(names, r.schema)
	return rest, err
}

// headerNames reads the first row.
func headerNames(rows *csvRows) ([]string, error) {
	var names []string
	seen := make(map[string]bool)
	for {
		field, err := rows.next()
		if err != nil {
			return nil, fmt.Errorf("header: %w", err)
		}
		name := string(field.text)
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("header: the name %q is not UTF-8", name)
		}
		if name == "" || seen[name] {
			return nil, fmt.Errorf("header: column %d is named %q, which is empty or there twice", len(names)+1, name)
		}
		seen[name] = true
		names = append(names, name)
		if field.last {
			return names, nil
		}
	}
}

// matchColumns finds the columns of a file in the schema. None may be unknown
// and none may be missing; their order is free.
func matchColumns(names []string, schema *arrow.Schema) ([]int, error) {
	var order []int
	there := make([]bool, schema.NumFields())
	for _, name := range names {
		at := schema.FieldIndices(name)
		if len(at) == 0 {
			return nil, fmt.Errorf("header: the schema has no column %q", name)
		}
		order = append(order, at[0])
		there[at[0]] = true
	}
	if missing := slices.Index(there, false); missing >= 0 {
		return nil, fmt.Errorf("header: column %q of the schema is missing", schema.Field(missing).Name)
	}
	return order, nil
}

// parse makes a batch of a block. It is called on several cores.
func (f *csvFile) parse(block []byte) (arrow.Record, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, f.schema)
	defer builder.Release()
	builder.Reserve(bytes.Count(block, []byte{'\n'}) + 1)
	columns := make([]textColumn, len(f.order))
	for i, at := range f.order {
		if texts, ok := builder.Field(at).(*array.StringBuilder); ok {
			texts.ReserveData(int(f.room[at].Load()))
		}
		column, err := newTextColumn(builder.Field(at), f.schema.Field(at))
		if err != nil {
			return nil, err
		}
		columns[i] = column
	}
	rows := newCSVRows(block, f.delim)
	for n := int64(1); rows.more(); n++ {
		if err := f.row(rows, columns); err != nil {
			err.row = n
			return nil, err
		}
	}
	for i := range f.room {
		if texts, ok := builder.Field(i).(*array.StringBuilder); ok {
			f.room[i].Store(int64(texts.DataLen()))
		}
	}
	return builder.NewRecord(), nil
}

// row appends one row to the columns.
func (f *csvFile) row(rows *csvRows, columns []textColumn) *rowError {
	for i := range columns {
		column := &columns[i]
		field, err := rows.next()
		if err != nil {
			return &rowError{column: column.field.Name, err: err}
		}
		if field.last != (i == len(columns)-1) {
			return &rowError{err: fmt.Errorf("the row has %s fields than the %d columns", lessOrMore(field.last), len(columns))}
		}
		if !field.quoted && f.isNull(field.text) {
			err = column.null()
		} else {
			err = column.text(field.text)
		}
		if err != nil {
			return &rowError{column: column.field.Name, value: string(field.text), inferred: f.inferred, err: err}
		}
	}
	return nil
}

func lessOrMore(less bool) string {
	if less {
		return "fewer"
	}
	return "more"
}

func (f *csvFile) isNull(text []byte) bool {
	for _, null := range f.nulls {
		if string(text) == null {
			return true
		}
	}
	return false
}

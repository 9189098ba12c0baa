package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/store"
)

// Column is one column of plain values.
type Column struct {
	Name string
	// Values is one of []int32, []int64, []uint8, []float32, []float64, []bool
	// and []string.
	Values any
	// Valid tells of each row whether it has a value, else it is null; nil = all have.
	Valid []bool
}

// Table is columns of equal length.
type Table []Column

// Rows is the length of the first column, 0 of an empty table.
func (t Table) Rows() int {
	if len(t) == 0 {
		return 0
	}
	return rowsOf(t[0].Values)
}

// Column finds a column by name; nil if there is none.
func (t Table) Column(name string) *Column {
	for i := range t {
		if t[i].Name == name {
			return &t[i]
		}
	}
	return nil
}

// WriteTable adds the rows of t to a split; see Write.
func (w *Writer) WriteTable(ctx context.Context, split Name, t Table) error {
	batch, err := t.record()
	if err != nil {
		return failure("write dataset", "", store.ErrInvalid, err)
	}
	defer batch.Release()
	return w.Write(ctx, split, batch)
}

// ReadTable reads the named columns, nil for all, of every row into memory. A
// column of another type than those of Column, or with a null, is an error of
// kind store.ErrUnsupported. Other errors are those of Batches.
func (r *Reader) ReadTable(ctx context.Context, columns []string) (Table, error) {
	table, err := r.emptyTable(columns)
	if err != nil {
		return nil, err
	}
	for batch, err := range r.Batches(ctx, &ReadOptions{Columns: columns}) {
		if err != nil {
			return nil, err
		}
		if err := r.appendBatch(table, batch); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// Tables reads as ReadTable does, some rows at a time, so that memory stays bounded. An error is the last thing yielded.
func (r *Reader) Tables(ctx context.Context, columns []string) iter.Seq2[Table, error] {
	return func(yield func(Table, error) bool) {
		for batch, err := range r.Batches(ctx, &ReadOptions{Columns: columns}) {
			var table Table
			if err == nil {
				table, err = r.emptyTable(columns)
			}
			if err == nil {
				err = r.appendBatch(table, batch)
			}
			if !yield(table, err) || err != nil {
				return
			}
		}
	}
}

// emptyTable has the named columns and no rows.
func (r *Reader) emptyTable(columns []string) (Table, error) {
	at, err := r.indices(columns)
	if err != nil {
		return nil, err
	}
	table := make(Table, len(at))
	for i, field := range at {
		table[i] = Column{Name: r.schema.Field(field).Name, Values: emptyValues(r.schema.Field(field).Type)}
		if table[i].Values == nil {
			return nil, failure("read dataset", r.dir, store.ErrUnsupported,
				fmt.Errorf("column %q is of type %s", table[i].Name, r.schema.Field(field).Type))
		}
	}
	return table, nil
}

// appendBatch adds the rows of a batch, in which nothing may be null.
func (r *Reader) appendBatch(table Table, batch Batch) error {
	for i := range table {
		if batch.Column(i).NullN() > 0 {
			return failure("read dataset", r.dir, store.ErrUnsupported, fmt.Errorf("column %q has nulls", table[i].Name))
		}
		table[i].Values = appendValues(table[i].Values, batch.Column(i))
	}
	return nil
}

func (t Table) record() (arrow.Record, error) {
	if len(t) == 0 {
		return nil, errors.New("a table has no columns")
	}
	var columns []arrow.Array
	defer func() {
		for _, column := range columns {
			column.Release()
		}
	}()
	var list []arrow.Field
	for _, column := range t {
		values, err := column.array()
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", column.Name, err)
		}
		columns = append(columns, values)
		if values.Len() != t.Rows() {
			return nil, fmt.Errorf("column %q has %d rows, column %q %d", column.Name, values.Len(), t[0].Name, t.Rows())
		}
		list = append(list, arrow.Field{Name: column.Name, Type: values.DataType(), Nullable: column.Valid != nil})
	}
	return array.NewRecord(arrow.NewSchema(list, nil), columns, int64(t.Rows())), nil
}

func rowsOf(values any) int {
	switch v := values.(type) {
	case []int32:
		return len(v)
	case []int64:
		return len(v)
	case []uint8:
		return len(v)
	case []float32:
		return len(v)
	case []float64:
		return len(v)
	case []bool:
		return len(v)
	case []string:
		return len(v)
	}
	return 0
}

// array is the column for Arrow.
func (c Column) array() (arrow.Array, error) {
	if c.Valid != nil && len(c.Valid) != rowsOf(c.Values) {
		return nil, fmt.Errorf("it has %d values and says of %d which are null", rowsOf(c.Values), len(c.Valid))
	}
	values := toArrow(c.Values, c.Valid)
	if values == nil {
		return nil, fmt.Errorf("it holds %T", c.Values)
	}
	return values, nil
}

// toArrow is nil for a type that Column does not know.
func toArrow(values any, valid []bool) arrow.Array {
	switch v := values.(type) {
	case []int32:
		return built(array.NewInt32Builder(memory.DefaultAllocator), v, valid)
	case []int64:
		return built(array.NewInt64Builder(memory.DefaultAllocator), v, valid)
	case []uint8:
		return built(array.NewUint8Builder(memory.DefaultAllocator), v, valid)
	case []float32:
		return built(array.NewFloat32Builder(memory.DefaultAllocator), v, valid)
	case []float64:
		return built(array.NewFloat64Builder(memory.DefaultAllocator), v, valid)
	case []bool:
		return built(array.NewBooleanBuilder(memory.DefaultAllocator), v, valid)
	case []string:
		return built(array.NewStringBuilder(memory.DefaultAllocator), v, valid)
	}
	return nil
}

type builder[T any] interface {
	AppendValues(values []T, valid []bool)
	NewArray() arrow.Array
	Release()
}

func built[T any](b builder[T], values []T, valid []bool) arrow.Array {
	defer b.Release()
	b.AppendValues(values, valid)
	return b.NewArray()
}

// emptyValues is nil for a type that Column does not know.
func emptyValues(kind arrow.DataType) any {
	switch kind.ID() {
	case arrow.INT32:
		return []int32(nil)
	case arrow.INT64:
		return []int64(nil)
	case arrow.UINT8:
		return []uint8(nil)
	case arrow.FLOAT32:
		return []float32(nil)
	case arrow.FLOAT64:
		return []float64(nil)
	case arrow.BOOL:
		return []bool(nil)
	case arrow.STRING:
		return []string(nil)
	}
	return nil
}

// appendValues adds a column of the type that emptyValues chose the slice for.
func appendValues(to any, column arrow.Array) any {
	switch c := column.(type) {
	case *array.Int32:
		return append(to.([]int32), c.Int32Values()...)
	case *array.Int64:
		return append(to.([]int64), c.Int64Values()...)
	case *array.Uint8:
		return append(to.([]uint8), c.Uint8Values()...)
	case *array.Float32:
		return append(to.([]float32), c.Float32Values()...)
	case *array.Float64:
		return append(to.([]float64), c.Float64Values()...)
	case *array.Boolean:
		return appendEach(to.([]bool), c.Len(), c.Value)
	case *array.String:
		return appendEach(to.([]string), c.Len(), func(i int) string { return string([]byte(c.Value(i))) })
	}
	return to
}

func appendEach[T any](to []T, n int, value func(int) T) []T {
	for i := range n {
		to = append(to, value(i))
	}
	return to
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/store"
)

// maxStrata bounds the distinct values of a column to stratify by.
const maxStrata = 1 << 16

// splitter divides rows as a spec says. What a row falls to follows from the
// seed, its stratum, and how many rows of the stratum came before it, so
// that it is the same for any number of cores and however the rows are batched.
//
// First the test is drawn, then validation from what is left, each by draw. With
// a column for validation, the test is drawn from the rows that are not for
// validation.
type splitter struct {
	w      *Writer
	split  Split
	seed   uint64
	rows   int64
	strata map[string]*stratum
	to     []Name // of each row of the batch
}

type stratum struct{ test, val *draw } // nil = nothing is drawn

func newSplitter(w *Writer) *splitter {
	return &splitter{w: w, split: w.spec.Split, seed: w.spec.Seed, strata: make(map[string]*stratum)}
}

// leastFraction keeps the windows of draw within a million rows.
const leastFraction = 1e-6

func (s *splitter) check() error {
	for _, f := range []float64{s.split.Val, s.split.Test} {
		if f > 0 && f < leastFraction {
			return failure("split rows", "", store.ErrInvalid, fmt.Errorf("a fraction of %v is below %v", f, leastFraction))
		}
	}
	return nil
}

// write adds the next rows.
func (s *splitter) write(ctx context.Context, batch arrow.Record) error {
	column, stratify, err := s.columns(batch.Schema())
	if err != nil {
		return failure("split rows", "", store.ErrInvalid, err)
	}
	if err := s.assign(batch, column, stratify); err != nil {
		return failure("split rows", "", store.ErrInvalid, err)
	}
	s.rows += batch.NumRows()
	if column >= 0 {
		batch = without(batch, column)
		defer batch.Release()
	}
	for _, name := range s.split.names() {
		if err := s.part(ctx, name, batch); err != nil {
			return err
		}
	}
	return nil
}

// columns finds those that the split asks for; -1 = it asks for none.
func (s *splitter) columns(schema *arrow.Schema) (column, stratify int, err error) {
	find := func(name string) int {
		if name == "" {
			return -1
		}
		at := schema.FieldIndices(name)
		if len(at) != 1 && err == nil {
			err = fmt.Errorf("the split asks for a column %q, which the rows do not have", name)
			return -1
		}
		return at[0]
	}
	return find(s.split.Column), find(s.split.Stratify), err
}

// assign settles where each row of batch goes.
func (s *splitter) assign(batch arrow.Record, column, stratify int) error {
	rows := int(batch.NumRows())
	s.to = s.to[:0]
	class := func(int) (string, error) { return "", nil }
	if stratify >= 0 {
		class = classes(batch.Column(stratify))
	}
	for row := range rows {
		name, err := s.row(batch, column, row, class)
		if err != nil {
			return fmt.Errorf("row %d: %w", s.rows+int64(row)+1, err)
		}
		s.to = append(s.to, name)
	}
	return nil
}

func (s *splitter) row(batch arrow.Record, column, row int, class func(int) (string, error)) (Name, error) {
	if column >= 0 {
		val, err := forValidation(batch.Column(column), row)
		if err != nil {
			return "", fmt.Errorf("column %q: %w", s.split.Column, err)
		}
		if val {
			return Val, nil
		}
	}
	if s.split.Val == 0 && s.split.Test == 0 {
		return Train, nil
	}
	name, err := class(row)
	if err != nil {
		return "", fmt.Errorf("column %q: %w", s.split.Stratify, err)
	}
	return s.draw(name)
}

func (s *splitter) draw(class string) (Name, error) {
	drawn := s.strata[class]
	if drawn == nil {
		if len(s.strata) == maxStrata {
			return "", fmt.Errorf("column %q has more than %d distinct values, too many to stratify by", s.split.Stratify, maxStrata)
		}
		drawn = new(stratum)
		if s.split.Test > 0 {
			drawn.test = newDraw(s.split.Test, s.seed, "test", class)
		}
		if s.split.Val > 0 {
			drawn.val = newDraw(min(s.split.Val/(1-s.split.Test), math.Nextafter(1, 0)), s.seed, "val", class)
		}
		s.strata[class] = drawn
	}
	switch {
	case drawn.test != nil && drawn.test.picked():
		return Test, nil
	case drawn.val != nil && drawn.val.picked():
		return Val, nil
	}
	return Train, nil
}

// part writes the rows of batch that go to one split.
func (s *splitter) part(ctx context.Context, name Name, batch arrow.Record) error {
	chosen := 0
	for _, to := range s.to {
		if to == name {
			chosen++
		}
	}
	switch chosen {
	case 0:
		return nil
	case len(s.to):
		return s.w.Write(ctx, name, batch)
	}
	rows := array.NewInt64Builder(memory.DefaultAllocator)
	defer rows.Release()
	rows.Reserve(chosen)
	for row, to := range s.to {
		if to == name {
			rows.UnsafeAppend(int64(row))
		}
	}
	picked, err := takeRows(ctx, batch, rows.NewArray())
	if err != nil {
		return err
	}
	defer picked.Release()
	return s.w.Write(ctx, name, picked)
}

// takeRows takes some rows of a batch.
func takeRows(ctx context.Context, batch arrow.Record, rows arrow.Array) (arrow.Record, error) {
	defer rows.Release()
	columns := make([]arrow.Array, 0, batch.NumCols())
	defer func() {
		for _, column := range columns {
			column.Release()
		}
	}()
	for i := range int(batch.NumCols()) {
		column, err := compute.TakeArray(ctx, batch.Column(i), rows)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", batch.ColumnName(i), err)
		}
		columns = append(columns, column)
	}
	return array.NewRecord(batch.Schema(), columns, int64(rows.Len())), nil
}

// without is batch less one column.
func without(batch arrow.Record, column int) arrow.Record {
	var list []arrow.Field
	var columns []arrow.Array
	for i, field := range batch.Schema().Fields() {
		if i != column {
			list = append(list, field)
			columns = append(columns, batch.Column(i))
		}
	}
	return array.NewRecord(arrow.NewSchema(list, nil), columns, batch.NumRows())
}

// forValidation follows Horovod: a row is for validation where the column is true
// or above zero, for training where it is false or zero. Horovod drops what is
// neither; it is refused here.
func forValidation(column arrow.Array, row int) (bool, error) {
	if column.IsNull(row) {
		return false, errors.New("null says neither validation nor training")
	}
	var value float64
	switch c := column.(type) {
	case *array.Boolean:
		return c.Value(row), nil
	case *array.Float32:
		value = float64(c.Value(row))
	case *array.Float64:
		value = c.Value(row)
	default:
		n, ok := integerAt(column, row)
		if !ok {
			return false, fmt.Errorf("a %s says neither validation nor training", column.DataType())
		}
		value = float64(n)
	}
	if !(value >= 0) {
		return false, fmt.Errorf("%v says neither validation nor training", value)
	}
	return value > 0, nil
}

// integerAt is the value of a column of whole numbers.
func integerAt(column arrow.Array, row int) (int64, bool) {
	switch c := column.(type) {
	case *array.Int8:
		return int64(c.Value(row)), true
	case *array.Int16:
		return int64(c.Value(row)), true
	case *array.Int32:
		return int64(c.Value(row)), true
	case *array.Int64:
		return c.Value(row), true
	case *array.Uint8:
		return int64(c.Value(row)), true
	case *array.Uint16:
		return int64(c.Value(row)), true
	case *array.Uint32:
		return int64(c.Value(row)), true
	}
	return 0, false
}

// classes names the stratum of each row: behind an "=" the value as text, in
// decimal, as true or false, or as 2006-01-02; nothing for null.
func classes(column arrow.Array) func(row int) (string, error) {
	return func(row int) (string, error) {
		if column.IsNull(row) {
			return "", nil
		}
		switch c := column.(type) {
		case *array.String:
			return "=" + c.Value(row), nil
		case *array.Boolean:
			return "=" + strconv.FormatBool(c.Value(row)), nil
		case *array.Date32:
			return "=" + c.Value(row).ToTime().Format(time.DateOnly), nil
		}
		n, ok := integerAt(column, row)
		if !ok {
			return "", fmt.Errorf("a %s has no classes to stratify by", column.DataType())
		}
		return "=" + strconv.FormatInt(n, 10), nil
	}
}

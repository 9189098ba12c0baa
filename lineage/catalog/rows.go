package catalog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// flushRows is how many rows are gathered before they are handed on. Files depend on it.
const flushRows = 16 << 10

// tableWriter gathers the rows of one table and writes them.
type tableWriter struct {
	table   Table
	file    *dataset.TableWriter
	path    string // below the directory of all versions
	columns []values
	rows    int
}

// values are those of one column that wait to be written. The slice of its type is filled.
type values struct {
	strings []string
	ints    []int64
	reals   []float64
	bools   []bool
	valid   []bool // of a column that may be null
}

func newTableWriter(s *store.Store, root store.Key, path string, table Table) (*tableWriter, error) {
	file, err := dataset.NewTableWriter(s, root.Join(path), table.fields())
	return &tableWriter{table: table, file: file, path: path, columns: make([]values, len(table.Columns))}, err
}

// add adds a row: for each column a string, int64, float64, bool or time.Time, or nil for null. The zero time and, where
// a column may be null, the empty string are null too.
func (w *tableWriter) add(ctx context.Context, cells ...any) error {
	for i, cell := range cells {
		if err := w.columns[i].add(w.table.Columns[i], cell); err != nil {
			return fmt.Errorf("table %s: %w", w.table.Name, err)
		}
	}
	w.rows++
	if w.rows < flushRows {
		return nil
	}
	return w.flush(ctx)
}

func (v *values) add(c Column, cell any) error {
	present, ok := true, true
	switch c.Type {
	case String:
		var text string
		text, ok = cell.(string)
		present = text != ""
		v.strings = append(v.strings, strings.ToValidUTF8(text, "\uFFFD"))
	case Int:
		var n int64
		n, ok = cell.(int64)
		v.ints = append(v.ints, n)
	case Real:
		var x float64
		x, ok = cell.(float64)
		v.reals = append(v.reals, x)
	case Bool:
		var yes bool
		yes, ok = cell.(bool)
		v.bools = append(v.bools, yes)
	case Timestamp:
		var at time.Time
		at, ok = cell.(time.Time)
		present = !at.IsZero()
		v.ints = append(v.ints, micros(at))
	}
	if cell != nil && !ok {
		return fmt.Errorf("column %s takes no %T", c.Name, cell)
	}
	if c.Nullable {
		v.valid = append(v.valid, present && cell != nil)
	} else if cell == nil {
		return fmt.Errorf("column %s is null", c.Name)
	}
	return nil
}

// micros is a time in microseconds since the Unix epoch, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// flush hands on what was gathered.
func (w *tableWriter) flush(ctx context.Context) error {
	if w.rows == 0 {
		return nil
	}
	rows := make(dataset.Table, len(w.columns))
	for i := range w.columns {
		rows[i] = w.columns[i].column(w.table.Columns[i])
		w.columns[i].reset()
	}
	w.rows = 0
	return w.file.Write(ctx, rows)
}

func (v *values) column(c Column) dataset.Column {
	column := dataset.Column{Name: c.Name, Valid: v.valid}
	switch c.Type {
	case String:
		column.Values = v.strings
	case Real:
		column.Values = v.reals
	case Bool:
		column.Values = v.bools
	default:
		column.Values = v.ints
	}
	return column
}

func (v *values) reset() {
	v.strings, v.ints, v.reals, v.bools, v.valid = v.strings[:0], v.ints[:0], v.reals[:0], v.bools[:0], v.valid[:0]
}

// close completes the file and describes it.
func (w *tableWriter) close(ctx context.Context) (TableFile, error) {
	if err := w.flush(ctx); err != nil {
		return TableFile{}, err
	}
	file, err := w.file.Close(ctx)
	if err != nil {
		return TableFile{}, err
	}
	file.Name = w.path
	return TableFile{Table: w.table.Name, Columns: w.table.fields(), File: file}, nil
}

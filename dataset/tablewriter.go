package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/heirloom-ml/heirloom/store"
)

// Row groups of a table by itself are short: engines read them side by side and pass over those that cannot match,
// and several tables may be written at once.
const (
	tableGroupRows  = 128 << 10
	tableGroupBytes = 16 << 20
)

// TableWriter writes rows to one Parquet file, compressed with zstd, which is no part of a dataset. What it holds in
// memory is bounded, about two row groups of 131,072 rows or 16 MiB, whatever the number of rows. The file appears in
// the store when it is complete, or not at all. Equal rows in equal pieces make equal bytes. It is not safe for
// concurrent use; Close or Abort it.
type TableWriter struct {
	store  *store.Store
	key    store.Key
	schema *arrow.Schema
	part   *partWriter // nil until the first rows
	stop   error       // why nothing more is taken
}

// NewTableWriter starts a file. Of a column Name, Type and Nullable count. Types are those that Column has values for,
// and timestamps, whose values are int64 in their unit. The error has kind store.ErrInvalid for columns that cannot be.
func NewTableWriter(s *store.Store, key store.Key, columns []Field) (*TableWriter, error) {
	schema, err := arrowSchema(columns)
	if err != nil {
		return nil, failure("write table", key, store.ErrInvalid, err)
	}
	for _, field := range schema.Fields() {
		if emptyValues(field.Type) == nil && field.Type.ID() != arrow.TIMESTAMP {
			return nil, failure("write table", key, store.ErrInvalid, fmt.Errorf("column %q is of type %s", field.Name, field.Type))
		}
	}
	return &TableWriter{store: s, key: key, schema: schema}, nil
}

// Write adds rows. They must have the columns of the file in their order, and a null only where those take one; else
// the error has kind store.ErrInvalid. The first error, which may be that of the store, comes again from then on. The
// values are the caller's again.
func (w *TableWriter) Write(ctx context.Context, rows Table) error {
	if w.stop == nil {
		w.stop = w.write(ctx, rows)
	}
	return w.stop
}

func (w *TableWriter) write(ctx context.Context, rows Table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	batch, err := rows.recordAs(w.schema)
	if err != nil {
		return failure("write table", w.key, store.ErrInvalid, err)
	}
	defer batch.Release()
	if err := w.open(ctx, dictionaryColumns(batch)); err != nil {
		return err
	}
	return w.part.write(w.schema, batch)
}

// open starts the file, if that has not been done.
func (w *TableWriter) open(ctx context.Context, dictionary []string) error {
	if w.part != nil {
		return nil
	}
	l := usualLimits()
	l.groupRows, l.groupBytes = tableGroupRows, tableGroupBytes
	props, err := properties(w.schema, FileOptions{}, dictionary, l.pageBytes/int64(w.schema.NumFields()))
	if err != nil {
		return failure("write table", w.key, store.ErrInvalid, err)
	}
	w.part, err = newPartWriter(ctx, w.store, w.key.Dir(), "", w.key.Base(), w.schema, props, l)
	return err
}

// Close completes the file, which may have no rows, and describes it; OpenFile reads it by that.
func (w *TableWriter) Close(ctx context.Context) (File, error) {
	if w.stop == nil {
		w.stop = w.open(ctx, nil)
	}
	if w.stop != nil {
		w.Abort()
		return File{}, w.stop
	}
	part := w.part
	w.part, w.stop = nil, errTableEnded()
	return part.close()
}

// Abort gives the file up: nothing of it appears. It may follow Close, and then does nothing.
func (w *TableWriter) Abort() {
	if w.part != nil {
		w.part.abort()
		w.part = nil
	}
	if w.stop == nil {
		w.stop = errTableEnded()
	}
}

func errTableEnded() error {
	return failure("write table", "", store.ErrInvalid, errors.New("the table was closed"))
}

// recordAs is the table as rows of a schema.
func (t Table) recordAs(schema *arrow.Schema) (arrow.Record, error) {
	if len(t) != schema.NumFields() {
		return nil, fmt.Errorf("the rows have %d columns, the table %d", len(t), schema.NumFields())
	}
	var columns []arrow.Array
	defer func() { releaseArrays(columns) }()
	for i, column := range t {
		field := schema.Field(i)
		if column.Name != field.Name {
			return nil, fmt.Errorf("%q stands in place of column %q", column.Name, field.Name)
		}
		values, err := column.arrayAs(field)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		columns = append(columns, values)
		if values.Len() != t.Rows() {
			return nil, fmt.Errorf("column %q has %d rows, column %q %d", field.Name, values.Len(), t[0].Name, t.Rows())
		}
	}
	return array.NewRecord(schema, columns, int64(t.Rows())), nil
}

// arrayAs is the column as an array of a field's type.
func (c Column) arrayAs(field arrow.Field) (arrow.Array, error) {
	if c.Valid != nil && !field.Nullable {
		return nil, errors.New("it takes no nulls")
	}
	values, err := c.array()
	if err != nil {
		return nil, err
	}
	if field.Type.ID() == arrow.TIMESTAMP && values.DataType().ID() == arrow.INT64 {
		plain := values.Data()
		defer values.Release()
		data := array.NewData(field.Type, plain.Len(), plain.Buffers(), nil, plain.NullN(), plain.Offset())
		defer data.Release()
		return array.NewTimestampData(data), nil
	}
	if !arrow.TypeEqual(values.DataType(), field.Type) {
		defer values.Release()
		return nil, fmt.Errorf("it is %s, not %s", field.Type, values.DataType())
	}
	return values, nil
}

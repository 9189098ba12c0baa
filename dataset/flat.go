package dataset

import (
	"context"
	"encoding/base64"
	"io"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// encoder makes the bytes of a Parquet file of batches.
type encoder interface {
	NewBufferedRowGroup()
	WriteBuffered(batch arrow.Record) error
	RowGroupTotalCompressedBytes() int64
	Close() error
}

// newEncoder writes the columns of a flat schema side by side, on all cores. The
// library writes one column after the other; its levels of nested columns cannot be had
// without that.
func newEncoder(schema *arrow.Schema, sink io.Writer, properties *parquet.WriterProperties) (encoder, error) {
	arrowProperties := pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())
	for _, field := range schema.Fields() {
		if arrow.IsNested(field.Type.ID()) {
			return pqarrow.NewFileWriter(schema, sink, properties, arrowProperties)
		}
	}
	root, err := pqarrow.ToParquet(schema, properties, arrowProperties)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	err = meta.Append("ARROW:schema", base64.StdEncoding.EncodeToString(flight.SerializeSchema(schema, memory.DefaultAllocator)))
	if err != nil {
		return nil, err
	}
	f := &flatEncoder{file: file.NewParquetWriter(sink, root.Root(), file.WithWriterProps(properties), file.WithWriteMetadata(meta))}
	for range schema.Fields() {
		f.contexts = append(f.contexts, pqarrow.NewArrowWriteContext(context.Background(), &arrowProperties))
	}
	return f, nil
}

// flatEncoder writes columns side by side. What it writes does not depend on how many cores
// there are.
type flatEncoder struct {
	file     *file.Writer
	group    file.BufferedRowGroupWriter
	contexts []context.Context // the library's buffers, one for each column
	present  []int16           // definition levels of values that are not null
}

// NewBufferedRowGroup ends the row group before. Its error shows itself again in Close.
func (f *flatEncoder) NewBufferedRowGroup() {
	if f.group != nil {
		_ = f.group.Close()
	}
	f.group = f.file.AppendBufferedRowGroup()
}

func (f *flatEncoder) RowGroupTotalCompressedBytes() int64 {
	if f.group == nil {
		return 0
	}
	return f.group.TotalCompressedBytes()
}

func (f *flatEncoder) WriteBuffered(batch arrow.Record) error {
	for len(f.present) < int(batch.NumRows()) {
		f.present = append(f.present, 1)
	}
	var columns errgroup.Group
	columns.SetLimit(runtime.GOMAXPROCS(0))
	for i := range f.contexts {
		columns.Go(func() error {
			return guarded("encode", "", store.ErrInvalid, func() error { return f.column(batch, i) })
		})
	}
	return columns.Wait()
}

func (f *flatEncoder) column(batch arrow.Record, i int) error {
	to, err := f.group.Column(i)
	if err != nil {
		return err
	}
	values := batch.Column(i)
	nullable := batch.Schema().Field(i).Nullable
	var levels []int16
	if nullable {
		levels = f.levels(values)
	}
	return pqarrow.WriteArrowToColumn(f.contexts[i], to, values, levels, nil, nullable)
}

// levels are the definition levels of a column at the root: 0 for null, else 1.
func (f *flatEncoder) levels(values arrow.Array) []int16 {
	if values.NullN() == 0 {
		return f.present[:values.Len()]
	}
	levels := make([]int16, values.Len())
	for i := range levels {
		if values.IsValid(i) {
			levels[i] = 1
		}
	}
	return levels
}

func (f *flatEncoder) Close() error {
	if f.group != nil {
		if err := f.group.Close(); err != nil {
			return err
		}
	}
	return f.file.Close()
}

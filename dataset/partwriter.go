package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	parquetschema "github.com/apache/arrow/go/v17/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// sliceRows is how many rows are handed to the library at a time. Between slices
// its buffers are looked at.
const sliceRows = 64 << 10

// limits bound what is written.
type limits struct {
	groupRows  int64 // rows of a row group
	groupBytes int64 // bytes of a row group, compressed; it is in memory until it ends
	partBytes  int64 // bytes of a file
	pageBytes  int64 // bytes of the pages of all columns that are being filled
	parts      int   // files of a split
}

// usualLimits are those of Spark where it has any.
func usualLimits() limits {
	return limits{groupRows: 1 << 20, groupBytes: 64 << 20, partBytes: 128 << 20, pageBytes: 32 << 20, parts: 10_000}
}

// partWriter writes one Parquet file straight into the store. It appears there
// when it is complete, or not at all.
type partWriter struct {
	dir     string // within that of the split
	name    string // within that of the split
	key     store.Key
	limits  limits
	sums    *sums
	pipe    *io.PipeWriter
	upload  *errgroup.Group // one goroutine, which reads the pipe; close and abort wait for it
	stored  store.Object    // set by upload
	parquet encoder
	rows    int64
	inGroup int64 // rows in the current row group
	groups  int
}

// newPartWriter starts a file in a directory within split, "" = in split itself.
func newPartWriter(ctx context.Context, s *store.Store, split store.Key, dir, name string, schema *arrow.Schema, properties *parquet.WriterProperties, l limits) (*partWriter, error) {
	name = path.Join(dir, name)
	key := split.Join(name)
	shareEncoder()
	reader, writer := io.Pipe()
	p := &partWriter{dir: dir, name: name, key: key, limits: l, sums: newSums(), pipe: writer, upload: new(errgroup.Group)}
	p.upload.Go(func() (err error) {
		p.stored, err = s.PutFrom(ctx, key, reader, -1)
		reader.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // whoever still writes must not wait
		return err
	})
	err := guarded("write", key, store.ErrInvalid, func() (err error) {
		p.parquet, err = newEncoder(schema, io.MultiWriter(p.sums, writer), properties)
		return err
	})
	if err != nil {
		return nil, p.explain(err)
	}
	return p, nil
}

// The bounds of a page, in bytes before it is compressed.
const minPage, maxPage = 8 << 10, 1 << 20

// properties are those of a file. dictionary names the columns to be encoded with
// one, page is the size of a page within bounds.
func properties(schema *arrow.Schema, o FileOptions, dictionary []string, page int64) (*parquet.WriterProperties, error) {
	options := []parquet.WriterProperty{
		parquet.WithCompression(o.codec()),
		parquet.WithDictionaryDefault(false),
		parquet.WithStats(true),
		parquet.WithDataPageSize(min(max(page, minPage), maxPage)),
		parquet.WithVersion(parquet.V2_LATEST),
	}
	for _, column := range dictionary {
		options = append(options, parquet.WithDictionaryPath(parquet.ColumnPath{column}, true))
	}
	root, err := pqarrow.ToParquet(schema, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	for i := range root.NumColumns() {
		if column := root.Column(i); falseStatistics(column) {
			options = append(options, parquet.WithStatsFor(column.Path(), false))
		}
	}
	return parquet.NewWriterProperties(options...), nil
}

// falseStatistics tells of which columns the library gets the extremes wrong: it
// compares numbers without a sign as if they had one wherever there may be nulls.
// No statistics are better than those, by which readers would pass over rows.
func falseStatistics(column *parquetschema.Column) bool {
	integer := column.PhysicalType() == parquet.Types.Int32 || column.PhysicalType() == parquet.Types.Int64
	return integer && column.SortOrder() == parquetschema.SortUNSIGNED && column.MaxDefinitionLevel() > 0
}

// write adds the rows of a batch, under the schema of the file: that of the
// batch may carry other metadata.
func (p *partWriter) write(schema *arrow.Schema, batch arrow.Record) error {
	batch = array.NewRecord(schema, batch.Columns(), batch.NumRows())
	defer batch.Release()
	step := min(sliceRows, p.limits.groupRows)
	for start := int64(0); start < batch.NumRows(); start += step {
		slice := batch.NewSlice(start, min(start+step, batch.NumRows()))
		err := guarded("write", p.key, store.ErrInvalid, func() error { return p.add(slice) })
		slice.Release()
		if err != nil {
			return p.explain(err)
		}
	}
	return nil
}

func (p *partWriter) add(slice arrow.Record) error {
	full := p.inGroup+slice.NumRows() > p.limits.groupRows || p.parquet.RowGroupTotalCompressedBytes() >= p.limits.groupBytes
	if p.groups == 0 || full {
		p.parquet.NewBufferedRowGroup()
		p.groups++
		p.inGroup = 0
	}
	p.inGroup += slice.NumRows()
	p.rows += slice.NumRows()
	return p.parquet.WriteBuffered(slice)
}

// full tells whether the rows to come belong into another file.
func (p *partWriter) full() bool {
	return p.sums.bytes+p.parquet.RowGroupTotalCompressedBytes() >= p.limits.partBytes
}

// explain ends the upload after the library failed, and prefers what the store
// said to the broken pipe that it left behind.
func (p *partWriter) explain(err error) error {
	p.pipe.CloseWithError(err)
	if stored := p.upload.Wait(); stored != nil && !errors.Is(stored, err) {
		return stored
	}
	var classified *store.Error
	if errors.As(err, &classified) {
		return err
	}
	return failure("write", p.key, store.ErrInvalid, err)
}

// close completes the file and describes it.
func (p *partWriter) close() (File, error) {
	if err := guarded("write", p.key, store.ErrInvalid, p.parquet.Close); err != nil {
		return File{}, p.explain(err)
	}
	p.pipe.Close()
	if err := p.upload.Wait(); err != nil {
		return File{}, err
	}
	file := p.sums.file(p.name)
	file.Rows, file.RowGroups = p.rows, p.groups
	if p.stored.Size != file.Bytes {
		return File{}, failure("write", p.key, store.ErrCorrupt,
			fmt.Errorf("%d bytes were written, %d are stored", file.Bytes, p.stored.Size))
	}
	return file, nil
}

// abort gives the file up. Nothing of it appears in the store.
func (p *partWriter) abort() {
	p.pipe.CloseWithError(errAborted())
	_ = p.upload.Wait() // it fails with what was just put into the pipe
}

func errAborted() error { return errors.New("the dataset was given up") }

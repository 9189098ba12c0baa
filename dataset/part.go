package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	magic         = "PAR1"
	tailBytes     = 8        // length of the footer and the magic number
	maxFooter     = 64 << 20 // bytes; a longer one is taken for malice
	streamBuffer  = 64 << 10 // bytes, per column being read
	maxRowGroups  = 1 << 20
	minPartLength = int64(len(magic)) + tailBytes
)

// part is one Parquet file opened for reading.
type part struct {
	key    store.Key
	file   *blockFile
	reader *pqarrow.FileReader
	schema *arrow.Schema
	rows   int64
	groups int
}

// openPart reads the footer of a file and checks it against what its manifest
// says. described.Rows < 0 means that there is no manifest.
func openPart(ctx context.Context, s *store.Store, key store.Key, described File, version string) (*part, error) {
	shareEncoder()
	f, err := newBlockFile(ctx, s, key, described, version)
	if err != nil {
		return nil, err
	}
	p := &part{key: key, file: f}
	if err := p.run("read footer", p.readFooter); err != nil {
		return nil, err
	}
	if described.Rows >= 0 && p.rows != described.Rows {
		return nil, failure("read footer", key, store.ErrCorrupt,
			fmt.Errorf("the footer says %d rows, the manifest %d", p.rows, described.Rows))
	}
	return p, nil
}

// run calls the Parquet library and classifies what it returns: an error of the
// store as it is, everything else as corrupt.
func (p *part) run(op string, f func() error) error {
	err := p.file.cause(guarded(op, p.key, store.ErrCorrupt, f))
	var classified *store.Error
	if err == nil || errors.As(err, &classified) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return failure(op, p.key, store.ErrCorrupt, err)
}

func (p *part) readFooter() error {
	if err := p.checkTail(); err != nil {
		return err
	}
	properties := parquet.NewReaderProperties(memory.DefaultAllocator)
	properties.BufferedStreamEnabled = true // else each column chunk is held whole
	properties.BufferSize = streamBuffer
	raw, err := file.NewParquetReader(io.NewSectionReader(p.file, 0, p.file.size), file.WithReadProps(properties))
	if err != nil {
		return err
	}
	p.rows, p.groups = raw.NumRows(), raw.NumRowGroups()
	if p.groups > maxRowGroups {
		return fmt.Errorf("%d row groups", p.groups)
	}
	if p.file.sums == nil {
		forgetArrowSchema(raw)
	}
	if p.reader, err = pqarrow.NewFileReader(raw, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator); err != nil {
		return err
	}
	p.schema, err = p.reader.Schema()
	return err
}

// forgetArrowSchema removes the copy of the Arrow schema that Arrow's writers
// leave in the footer, of files for whose bytes nobody vouches: the library
// allocates whatever length the copy claims, and running out of memory cannot be
// caught. Types then follow from the Parquet schema alone: a dictionary reads as
// its values, a named time zone as UTC.
func forgetArrowSchema(raw *file.Reader) {
	meta := raw.MetaData().FileMetaData
	kept := meta.KeyValueMetadata[:0]
	for _, entry := range meta.KeyValueMetadata {
		if entry.Key != "ARROW:schema" {
			kept = append(kept, entry)
		}
	}
	meta.KeyValueMetadata = kept
}

// checkTail looks at the last eight bytes before the library believes them.
func (p *part) checkTail() error {
	if p.file.size < minPartLength {
		return fmt.Errorf("%d bytes are too few for a Parquet file", p.file.size)
	}
	var tail [tailBytes]byte
	if _, err := p.file.ReadAt(tail[:], p.file.size-tailBytes); err != nil {
		return err
	}
	if string(tail[4:]) != magic {
		return fmt.Errorf("it does not end in %s: cut short, encrypted or no Parquet file", magic)
	}
	if length := int64(binary.LittleEndian.Uint32(tail[:])); length > maxFooter || length > p.file.size-minPartLength {
		return fmt.Errorf("a footer of %d bytes in a file of %d", length, p.file.size)
	}
	return nil
}

// groupReader reads some columns of one row group, batch by batch. It calls the
// library in this goroutine alone, where a panic can be caught.
type groupReader struct {
	part    *part
	schema  *arrow.Schema // of the columns chosen
	columns []*pqarrow.ColumnReader
	left    int64 // rows
}

// openGroup starts to read a row group. fields are indices of top-level columns.
func (p *part) openGroup(ctx context.Context, group int, fields []int) (*groupReader, error) {
	g := &groupReader{part: p}
	p.file.reserve(len(fields))
	err := p.run("read", func() error {
		g.left = p.reader.ParquetReader().MetaData().RowGroup(group).NumRows()
		var chosen []arrow.Field
		for _, field := range fields {
			leaves := make(map[int]bool)
			addLeaves(leaves, &p.reader.Manifest.Fields[field])
			column, err := p.reader.GetFieldReader(ctx, field, leaves, []int{group})
			if err != nil {
				return err
			}
			g.columns = append(g.columns, column)
			chosen = append(chosen, *column.Field())
		}
		g.schema = arrow.NewSchema(chosen, nil)
		return nil
	})
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// addLeaves collects the indices of the leaf columns below field.
func addLeaves(leaves map[int]bool, field *pqarrow.SchemaField) {
	if len(field.Children) == 0 {
		leaves[field.ColIndex] = true
		return
	}
	for i := range field.Children {
		addLeaves(leaves, &field.Children[i])
	}
}

// next returns up to most rows, which the caller releases, or nil at the end of
// the group. Columns that end early are an error, not a short batch.
func (g *groupReader) next(most int64) (arrow.Record, error) {
	rows := min(most, g.left)
	if rows <= 0 {
		return nil, nil
	}
	var record arrow.Record
	err := g.part.run("read", func() error {
		arrays := make([]arrow.Array, 0, len(g.columns))
		defer func() {
			for _, a := range arrays {
				a.Release()
			}
		}()
		for i, column := range g.columns {
			values, err := nextArray(column, rows)
			if err != nil {
				return fmt.Errorf("column %q: %w", g.schema.Field(i).Name, err)
			}
			arrays = append(arrays, values)
			if int64(values.Len()) != rows {
				return fmt.Errorf("column %q ends %d rows early", g.schema.Field(i).Name, g.left-int64(values.Len()))
			}
		}
		record = array.NewRecord(g.schema, arrays, rows)
		return nil
	})
	g.left -= rows
	return record, err
}

func nextArray(column *pqarrow.ColumnReader, rows int64) (arrow.Array, error) {
	chunked, err := column.NextBatch(rows)
	if err != nil {
		return nil, err
	}
	defer chunked.Release()
	switch chunks := chunked.Chunks(); len(chunks) {
	case 0:
		return nil, errors.New("no values")
	case 1:
		chunks[0].Retain()
		return chunks[0], nil
	default:
		return array.Concatenate(chunks, memory.DefaultAllocator)
	}
}

func (g *groupReader) close() {
	for _, column := range g.columns {
		column.Release()
	}
}

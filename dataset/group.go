package dataset

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"golang.org/x/sync/errgroup"
)

// groupReader decodes some columns of one row group, batch by batch. Each of a
// few goroutines decodes its share of the columns and runs some batches ahead;
// next puts their arrays together. A panic in the Parquet library is caught in
// the goroutine in which it happens.
type groupReader struct {
	part    *part
	fields  []int // top-level columns, in order of the batches
	schema  *arrow.Schema
	batch   int64 // rows of a batch
	left    int64 // rows that next has not returned yet
	shares  []*share
	cancel  context.CancelFunc
	workers *errgroup.Group // the goroutines; close waits for them
}

// share is the columns that one goroutine decodes.
type share struct {
	at      []int // positions in fields
	columns []*column
	weight  int64              // bytes to be uncompressed
	done    chan []arrow.Array // one array for each of columns, batch after batch; closed at the end
	failed  error              // set before done is closed
}

// aheadBytes is about how much of a row group may be decoded before it is asked for.
const aheadBytes = 32 << 20

// openGroup starts to decode the first rows rows of a row group. It takes
// ownership of nothing: the caller closes it.
func (p *part) openGroup(ctx context.Context, group int, fields []int, schema *arrow.Schema, batch, rows int64) (*groupReader, error) {
	ctx, cancel := context.WithCancel(ctx)
	g := &groupReader{part: p, fields: fields, schema: schema, batch: batch, left: rows, cancel: cancel, workers: new(errgroup.Group)}
	err := p.run("read", func() error { return g.divide(group) })
	if err != nil {
		cancel()
		return nil, err
	}
	bytes := int64(0)
	for _, s := range g.shares {
		bytes += s.weight
	}
	p.file.reserve(len(g.shares))
	perBatch := bytes/max(1, p.groupRows(group))*batch + 1
	for _, s := range g.shares {
		s.done = make(chan []arrow.Array, min(max(aheadBytes/perBatch, 1), 16))
		g.workers.Go(func() error {
			defer close(s.done)
			s.failed = p.run("read", func() error { return s.decode(ctx, batch, rows, rows == p.groupRows(group)) })
			return nil
		})
	}
	return g, nil
}

// divide gives the columns to about as many shares as there are processors, the
// heaviest first.
func (g *groupReader) divide(group int) error {
	meta := g.part.meta.RowGroup(group)
	all := make([]*share, 0, len(g.fields))
	for at, field := range g.fields {
		c, weight, err := g.part.newColumn(meta, &g.part.manifest.Fields[field])
		if err != nil {
			return fmt.Errorf("column %q: %w", g.part.manifest.Fields[field].Field.Name, err)
		}
		all = append(all, &share{at: []int{at}, columns: []*column{c}, weight: weight})
	}
	slices.SortStableFunc(all, func(a, b *share) int { return int(min(max(b.weight-a.weight, -1), 1)) })
	most := 2 * runtime.GOMAXPROCS(0)
	for _, one := range all {
		if len(g.shares) < most {
			g.shares = append(g.shares, one)
			continue
		}
		lightest := slices.MinFunc(g.shares, func(a, b *share) int { return int(min(max(a.weight-b.weight, -1), 1)) })
		lightest.at = append(lightest.at, one.at...)
		lightest.columns = append(lightest.columns, one.columns...)
		lightest.weight += one.weight
	}
	return nil
}

// newColumn makes the readers below one field.
func (p *part) newColumn(meta *metadata.RowGroupMetaData, field *pqarrow.SchemaField) (c *column, bytes int64, err error) {
	c = &column{field: field}
	if len(field.Children) == 0 {
		c.leaf, bytes, err = p.newChunk(meta, field.ColIndex)
		return c, bytes, err
	}
	for i := range field.Children {
		child, more, err := p.newColumn(meta, &field.Children[i])
		if err != nil {
			return nil, 0, err
		}
		c.children = append(c.children, child)
		bytes += more
	}
	return c, bytes, nil
}

func (p *part) newChunk(meta *metadata.RowGroupMetaData, index int) (*leaf, int64, error) {
	if index < 0 || index >= meta.NumColumns() {
		return nil, 0, unsupported("a group without members")
	}
	chunk, err := meta.ColumnChunk(index)
	if err != nil {
		return nil, 0, err
	}
	l, err := newLeaf(p.meta.Schema.Column(index))
	if err != nil {
		return nil, 0, err
	}
	if chunk.Type() != l.physical {
		return nil, 0, fmt.Errorf("its pages are said to hold %s, the schema says %s", chunk.Type(), l.physical)
	}
	l.expected = chunk.NumValues()
	l.pages = pages{file: p.file}
	if l.pages.at, l.pages.end, err = chunkRange(chunk, p.file.size); err != nil {
		return nil, 0, err
	}
	l.codec = int(chunk.Compression())
	return l, max(chunk.TotalUncompressedSize(), 0), nil
}

// decode decodes the columns of s up to rows, and sends them. whole is that the
// row group ends there.
func (s *share) decode(ctx context.Context, batch, rows int64, whole bool) error {
	codecs := make(map[int]*decompressor)
	defer func() {
		for _, codec := range codecs {
			codec.close()
		}
	}()
	if err := s.prepare(codecs); err != nil {
		return err
	}
	for rows > 0 {
		n := min(batch, rows)
		arrays, err := s.next(ctx, n)
		if err != nil {
			return err
		}
		rows -= n
		select {
		case s.done <- arrays:
		case <-ctx.Done():
			releaseArrays(arrays)
			return ctx.Err()
		}
	}
	return s.end(whole)
}

// prepare gives the leaves of one goroutine what undoes their codecs.
func (s *share) prepare(codecs map[int]*decompressor) error {
	for _, c := range s.columns {
		for _, l := range c.leaves() {
			codec := codecs[l.codec]
			if codec == nil {
				var err error
				if codec, err = newDecompressor(l.codec); err != nil {
					return fmt.Errorf("column %q: %w", l.name, err)
				}
				codecs[l.codec] = codec
			}
			l.pages.codec = codec
		}
	}
	return nil
}

func (s *share) next(ctx context.Context, rows int64) ([]arrow.Array, error) {
	arrays := make([]arrow.Array, 0, len(s.columns))
	for _, c := range s.columns {
		if err := ctx.Err(); err != nil {
			releaseArrays(arrays)
			return nil, err
		}
		a, err := c.read(rows)
		if err != nil {
			releaseArrays(arrays)
			return nil, err
		}
		arrays = append(arrays, a)
	}
	return arrays, nil
}

// end checks that a row group which was read to its end holds nothing more.
func (s *share) end(whole bool) error {
	if !whole {
		return nil
	}
	for _, c := range s.columns {
		for _, l := range c.leaves() {
			if err := l.end(); err != nil {
				return fmt.Errorf("column %q: %w", l.name, err)
			}
		}
	}
	return nil
}

func releaseArrays(arrays []arrow.Array) {
	for _, a := range arrays {
		if a != nil {
			a.Release()
		}
	}
}

// next returns the next rows, which the caller releases, or nil at the end.
func (g *groupReader) next() (arrow.Record, error) {
	rows := min(g.batch, g.left)
	if rows <= 0 {
		return nil, g.ended()
	}
	arrays := make([]arrow.Array, len(g.fields))
	defer releaseArrays(arrays)
	for _, s := range g.shares {
		some, ok := <-s.done
		if !ok {
			return nil, s.why()
		}
		for i, at := range s.at {
			arrays[at] = some[i]
		}
	}
	g.left -= rows
	return array.NewRecord(g.schema, arrays, rows), nil
}

// ended waits for what the goroutines found at the end of their columns.
func (g *groupReader) ended() error {
	for _, s := range g.shares {
		if _, ok := <-s.done; !ok && s.failed != nil {
			return s.failed
		}
	}
	return nil
}

func (s *share) why() error {
	if s.failed == nil {
		return errors.New("a column ended early")
	}
	return s.failed
}

// close ends the goroutines and drops what they had decoded.
func (g *groupReader) close() {
	g.cancel()
	for _, s := range g.shares {
		for arrays := range s.done {
			releaseArrays(arrays)
		}
	}
	_ = g.workers.Wait() // each keeps its error in its share
}

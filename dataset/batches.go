package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/heirloom-ml/heirloom/store"
)

// Batches have this many rows at most where the caller does not say, and fewer
// where rows are wide: about wantedBytes.
const (
	defaultBatchRows = 64 << 10
	wantedBytes      = 16 << 20
)

// ReadOptions adjust Batches. Nil and the zero value are the defaults.
type ReadOptions struct {
	Columns   []string   // in the order wanted; nil = all
	BatchRows int64      // rows of a batch at most; 0 = 65,536, or fewer where rows are wide
	Where     *Predicate // rows for which it is true; nil = all
	Shard     Shard      // the zero value is all rows
	Shuffle   *Shuffle   // nil = in the order of the files
	From      Cursor     // where to go on; the zero value is the beginning
}

// Batch is some rows, and where the reading goes on after them.
type Batch struct {
	arrow.Record
	Next Cursor
}

// Batches reads the rows in order. A batch is valid until the next one is asked
// for; Retain keeps it longer. It ends at a row group, so it may be short; it is
// never empty. Row groups of which the statistics show that Where holds for no
// row are not read. An error is final; its kind is store.ErrNotExist for a
// column that is not there, store.ErrInvalid for options that make no sense,
// store.ErrConflict for a file that was replaced since Open, store.ErrCorrupt
// for bytes that are not those of the manifest or make no sense, and
// store.ErrUnsupported for what this package does not read.
//
// Columns are decoded side by side and some batches ahead; memory stays bounded
// whatever the size of the dataset.
func (r *Reader) Batches(ctx context.Context, opts *ReadOptions) iter.Seq2[Batch, error] {
	if opts == nil {
		opts = new(ReadOptions)
	}
	return func(yield func(Batch, error) bool) {
		s, err := r.newScan(ctx, opts)
		if err == nil {
			err = s.run(ctx, yield)
		}
		if err != nil {
			yield(Batch{}, err)
		}
	}
}

// scan is one reading of a dataset.
type scan struct {
	reader  *Reader
	opts    ReadOptions
	wanted  []int // columns of the table that are returned
	needed  []int // those and what Where asks for
	where   *boundPredicate
	order   order
	align   int64   // a batch never spans a multiple of it, from the start of the shard; 0 = any
	columns columns // of needed
}

// columns says where the needed columns of the table come from.
type columns struct {
	schema *arrow.Schema
	from   []origin
	stored []int         // columns of the files, in the order in which they are decoded
	decode *arrow.Schema // of stored
}

func (r *Reader) newScan(ctx context.Context, opts *ReadOptions) (*scan, error) {
	s := &scan{reader: r, opts: *opts}
	var err error
	if s.wanted, err = r.indices(opts.Columns); err != nil {
		return nil, err
	}
	s.needed = append([]int(nil), s.wanted...)
	if opts.Where != nil {
		if s.where, err = opts.Where.bind(r.schema); err != nil {
			return nil, failure("read dataset", r.dir, kindOfPredicate(err), err)
		}
		for _, at := range s.where.columns() {
			s.needed = addMissing(s.needed, at)
		}
	}
	s.columns = r.columnsOf(s.needed)
	s.order, err = r.newOrder(ctx, opts)
	return s, err
}

func addMissing(list []int, at int) []int {
	for _, have := range list {
		if have == at {
			return list
		}
	}
	return append(list, at)
}

// indices finds columns by name; nil are all.
func (r *Reader) indices(names []string) ([]int, error) {
	var list []int
	if names == nil {
		for i := range r.schema.NumFields() {
			list = append(list, i)
		}
		return list, nil
	}
	for _, name := range names {
		at := r.schema.FieldIndices(name)
		if len(at) != 1 {
			return nil, failure("read dataset", r.dir, store.ErrNotExist, fmt.Errorf("%d columns are named %q", len(at), name))
		}
		list = append(list, at[0])
	}
	return list, nil
}

func (r *Reader) columnsOf(list []int) columns {
	var c columns
	var all, decode []arrow.Field
	for _, at := range list {
		from := r.origins[at]
		all = append(all, r.schema.Field(at))
		if !from.partition {
			c.stored = append(c.stored, from.at)
			decode = append(decode, r.stored.Field(from.at))
			from.at = len(c.stored) - 1
		}
		c.from = append(c.from, from)
	}
	c.schema, c.decode = arrow.NewSchema(all, nil), arrow.NewSchema(decode, nil)
	return c
}

// run yields the batches.
func (s *scan) run(ctx context.Context, yield func(Batch, error) bool) error {
	if s.opts.Shuffle != nil {
		return s.runShuffled(ctx, yield)
	}
	for batch, err := range s.read(ctx, s.order.from, s.order.to) {
		if err != nil {
			return err
		}
		more := batch.NumRows() == 0 || yield(batch, nil)
		batch.Release()
		if !more {
			return nil
		}
	}
	return nil
}

// read yields the rows from..to of the order, with the wanted columns, of each
// batch those for which Where is true, which may be none. The caller releases them.
func (s *scan) read(ctx context.Context, from, to int64) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		p := s.start(ctx, from, to)
		defer p.stop()
		at := from
		for piece := range p.pieces {
			more, err := s.readPiece(ctx, piece, &at, yield)
			if err != nil {
				yield(Batch{}, err)
				return
			}
			if !more {
				return
			}
		}
		if err := p.err(); err != nil {
			yield(Batch{}, err)
		}
	}
}

// readPiece yields what one row group contributes. at is the position in the
// order, which moves on.
func (s *scan) readPiece(ctx context.Context, p *piece, at *int64, yield func(Batch, error) bool) (more bool, err error) {
	defer p.close()
	if p.reader == nil { // pruned
		*at += p.to - p.from
		return true, nil
	}
	for row := int64(0); ; {
		record, err := p.reader.next()
		if record == nil || err != nil {
			return true, err
		}
		if err := ctx.Err(); err != nil {
			record.Release()
			return false, err
		}
		n := record.NumRows()
		more, err := s.readRecord(ctx, p, tail(record, p.from-row), at, yield)
		if err != nil || !more {
			return false, err
		}
		row += n
	}
}

// readRecord yields one record, which it releases, or several where it spans
// windows. nil is an empty one.
func (s *scan) readRecord(ctx context.Context, p *piece, record arrow.Record, at *int64, yield func(Batch, error) bool) (more bool, err error) {
	if record == nil {
		return true, nil
	}
	defer record.Release()
	for done := int64(0); done < record.NumRows(); {
		n := record.NumRows() - done
		if s.align > 0 {
			n = min(n, s.align-(*at-s.order.start)%s.align)
		}
		slice := record.NewSlice(done, done+n)
		done += n
		*at += n
		finished, err := s.finish(ctx, p, slice)
		slice.Release()
		if err != nil {
			return false, err
		}
		if !yield(Batch{Record: finished, Next: s.order.cursor(*at, 0)}, nil) {
			return false, nil
		}
	}
	return true, nil
}

// tail drops the first rows of a record, which it releases; nil is all of them.
func tail(record arrow.Record, drop int64) arrow.Record {
	if drop <= 0 {
		return record
	}
	defer record.Release()
	if drop >= record.NumRows() {
		return nil
	}
	return record.NewSlice(drop, record.NumRows())
}

// finish adds partitions, filters, and leaves out what is not wanted. What it
// returns is the caller's to release.
func (s *scan) finish(ctx context.Context, p *piece, stored arrow.Record) (arrow.Record, error) {
	record, err := s.addPartitions(p, stored)
	if err != nil {
		return nil, err
	}
	if s.where != nil {
		filtered, err := s.where.filter(ctx, record, s.position)
		record.Release()
		if err != nil {
			return nil, failure("read", p.key, store.ErrUnsupported, err)
		}
		record = filtered
	}
	if len(s.wanted) == len(s.needed) {
		return record, nil
	}
	defer record.Release()
	n := len(s.wanted)
	return array.NewRecord(arrow.NewSchema(record.Schema().Fields()[:n], nil), record.Columns()[:n], record.NumRows()), nil
}

func (s *scan) addPartitions(p *piece, stored arrow.Record) (arrow.Record, error) {
	list := make([]arrow.Array, len(s.columns.from))
	var made []arrow.Array
	defer func() { releaseArrays(made) }()
	for i, from := range s.columns.from {
		if !from.partition {
			list[i] = stored.Column(from.at)
			continue
		}
		kind := s.columns.schema.Field(i).Type
		a, err := partitionArray(kind, s.reader.keys[p.file][from.at], int(stored.NumRows()))
		if err != nil {
			return nil, failure("read", p.key, store.ErrInvalid, err)
		}
		list[i], made = a, append(made, a)
	}
	return array.NewRecord(s.columns.schema, list, stored.NumRows()), nil
}

// position finds a column of the table among the needed ones.
func (s *scan) position(column int) int { return slices.Index(s.needed, column) }

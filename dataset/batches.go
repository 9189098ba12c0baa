package dataset

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// defaultBatchRows is the size of a batch where the caller does not say.
const defaultBatchRows = 64 << 10

// ReadOptions adjust Batches. Nil and the zero value are the defaults.
type ReadOptions struct {
	Columns   []string // in the order wanted; nil = all
	BatchRows int64    // rows of a batch at most; 0 = 65,536
}

// Batches reads the rows in order. A batch is valid until the next one is asked
// for; Retain keeps it longer. It ends at a row group, so it may be short. An
// error is final; its kind is store.ErrNotExist for a column that is not there,
// store.ErrConflict for a file that was replaced since Open, store.ErrCorrupt
// for bytes that are not those of the manifest or make no sense.
//
// A batch, the pages it was decoded from, and up to 256 blocks of 1 MiB are in
// memory, whatever the size of the dataset.
func (r *Reader) Batches(ctx context.Context, opts *ReadOptions) iter.Seq2[arrow.Record, error] {
	if opts == nil {
		opts = new(ReadOptions)
	}
	return func(yield func(arrow.Record, error) bool) {
		columns, err := r.indices(opts.Columns)
		if err != nil {
			yield(nil, err)
			return
		}
		rows := opts.BatchRows
		if rows <= 0 {
			rows = defaultBatchRows
		}
		for i := range r.files {
			more, err := r.readFile(ctx, i, columns, rows, yield)
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
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

// readFile yields the batches of one file, and reports whether more are wanted.
func (r *Reader) readFile(ctx context.Context, i int, columns []int, rows int64, yield func(arrow.Record, error) bool) (bool, error) {
	p, err := r.part(ctx, i)
	if err != nil {
		return false, err
	}
	if !sameFields(r.schema, p.schema) {
		return false, failure("read", p.key, store.ErrCorrupt, fmt.Errorf("its columns are %v, those of the dataset %v", p.schema.Fields(), r.schema.Fields()))
	}
	read := int64(0)
	for group := range p.groups {
		n, more, err := p.readGroup(ctx, group, columns, rows, yield)
		if err != nil || !more {
			return false, err
		}
		read += n
	}
	if read != p.rows {
		return false, failure("read", p.key, store.ErrCorrupt, fmt.Errorf("its row groups hold %d rows, the footer says %d", read, p.rows))
	}
	return true, nil
}

func (p *part) readGroup(ctx context.Context, group int, columns []int, rows int64, yield func(arrow.Record, error) bool) (read int64, more bool, err error) {
	g, err := p.openGroup(ctx, group, columns)
	if err != nil {
		return 0, false, err
	}
	defer g.close()
	for {
		if err := ctx.Err(); err != nil {
			return read, false, err
		}
		batch, err := g.next(rows)
		if err != nil || batch == nil {
			return read, true, err
		}
		read += batch.NumRows()
		more := yield(batch, nil)
		batch.Release()
		if !more {
			return read, false, nil
		}
	}
}

package dataset

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/store"
)

// defaultWindow is the number of rows that are shuffled together.
const defaultWindow = 128 << 10

// Shuffle asks for rows in an order drawn from Seed and Epoch alone: first the
// order of all row groups, then, within each window of consecutive rows, that of
// the rows. So memory is bounded by the window, and two rows that lay in one row
// group are likelier to meet than others. Shards cut the drawn order of row
// groups: other rows in each epoch.
type Shuffle struct {
	Seed   uint64
	Epoch  uint64
	Window int64 // rows; 0 = 131,072
}

// shuffled puts the row groups of all files in the order of a shuffle.
func (r *Reader) shuffled(ctx context.Context, o *order, s *Shuffle) error {
	groups, err := r.groupRows(ctx)
	if err != nil {
		return err
	}
	var all []unit
	for file, sizes := range groups {
		for group, rows := range sizes {
			all = append(all, unit{file: file, group: group, to: rows})
		}
	}
	random := rand.New(rand.NewPCG(s.Seed, s.Epoch))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, u := range all {
		o.add(u.file, u.group, u.to)
	}
	return nil
}

// window is how many rows of the order are shuffled together.
func (s *Shuffle) window() int64 {
	if s.Window <= 0 {
		return defaultWindow
	}
	return s.Window
}

// runShuffled yields the windows one after the other.
func (s *scan) runShuffled(ctx context.Context, yield func(Batch, error) bool) error {
	s.align = s.opts.Shuffle.window()
	if (s.order.from-s.order.start)%s.align != 0 && s.order.from != s.order.to {
		return failure("read dataset", s.reader.dir, store.ErrInvalid, errors.New("the cursor lies within a window"))
	}
	w := &window{scan: s, number: (s.order.from - s.order.start) / s.align, skip: s.order.skip}
	defer w.drop()
	for batch, err := range s.read(ctx, s.order.from, s.order.to) {
		if err != nil {
			return err
		}
		number := (batch.Next.row - 1 - s.order.start) / s.align
		more := true
		if number != w.number {
			more, err = w.flush(ctx, yield)
			w.number, w.skip = number, 0
		}
		w.rows = append(w.rows, batch.Record)
		if err != nil || !more {
			return err
		}
	}
	_, err := w.flush(ctx, yield)
	return err
}

// window is the rows that are shuffled together.
type window struct {
	scan   *scan
	number int64
	skip   int64 // rows that were returned already
	rows   []arrow.Record
}

func (w *window) drop() {
	for _, record := range w.rows {
		record.Release()
	}
	w.rows = nil
}

// flush yields the rows of the window in their drawn order.
func (w *window) flush(ctx context.Context, yield func(Batch, error) bool) (more bool, err error) {
	defer w.drop()
	if len(w.rows) == 0 {
		return true, nil
	}
	whole, err := concatenate(w.rows)
	if err != nil {
		return false, err
	}
	defer whole.Release()
	o := w.scan.order
	from := o.start + w.number*w.scan.align
	drawn := w.scan.draw(from, whole.NumRows())
	size := w.scan.opts.BatchRows
	if size <= 0 {
		size = defaultBatchRows
	}
	for at := w.skip; at < int64(len(drawn)); at += size {
		last := min(at+size, int64(len(drawn)))
		next := o.cursor(from, last)
		if last == int64(len(drawn)) {
			next = o.cursor(min(from+w.scan.align, o.to), 0)
		}
		if more, err := yieldTaken(ctx, whole, drawn[at:last], next, yield); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func yieldTaken(ctx context.Context, whole arrow.Record, rows []int32, next Cursor, yield func(Batch, error) bool) (bool, error) {
	taken, err := take(ctx, whole, rows)
	if err != nil {
		return false, err
	}
	defer taken.Release()
	return yield(Batch{Record: taken, Next: next}, nil), nil
}

// draw gives n rows of the window that begins at from their order.
func (s *scan) draw(from, n int64) []int32 {
	o := s.opts.Shuffle
	random := rand.New(rand.NewPCG(o.Seed^0x9e3779b97f4a7c15, o.Epoch<<32^uint64(from)))
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// take picks rows of a record by their numbers.
func take(ctx context.Context, record arrow.Record, rows []int32) (arrow.Record, error) {
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.AppendValues(rows, nil)
	indices := builder.NewArray()
	defer indices.Release()
	list := make([]arrow.Array, 0, record.NumCols())
	defer func() { releaseArrays(list) }()
	for _, column := range record.Columns() {
		taken, err := compute.TakeArray(ctx, column, indices)
		if err != nil {
			return nil, err
		}
		list = append(list, taken)
	}
	return array.NewRecord(record.Schema(), list, int64(len(rows))), nil
}

// concatenate makes one record of several.
func concatenate(rows []arrow.Record) (arrow.Record, error) {
	if len(rows) == 1 {
		rows[0].Retain()
		return rows[0], nil
	}
	total := int64(0)
	for _, record := range rows {
		total += record.NumRows()
	}
	list := make([]arrow.Array, 0, rows[0].NumCols())
	defer func() { releaseArrays(list) }()
	for at := range int(rows[0].NumCols()) {
		var pieces []arrow.Array
		for _, record := range rows {
			pieces = append(pieces, record.Column(at))
		}
		whole, err := array.Concatenate(pieces, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		list = append(list, whole)
	}
	return array.NewRecord(rows[0].Schema(), list, total), nil
}

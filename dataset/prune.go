package dataset

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// columnStats is what a footer says of one column of a row group, or what a
// partition says of its files.
type columnStats struct {
	rows, nulls int64
	hasNulls    bool // nulls is known
	typed       metadata.TypedStatistics
	unsigned    bool
	partition   arrow.Array // one value, in place of typed
}

// boundPredicate is a predicate whose columns are known to be those of a dataset.
type boundPredicate struct {
	root bound
	list []int
}

func (p *Predicate) bind(schema *arrow.Schema) (*boundPredicate, error) {
	root, err := p.root.bind(schema)
	if err != nil {
		return nil, err
	}
	return &boundPredicate{root: root, list: root.columns(nil)}, nil
}

func (b *boundPredicate) columns() []int { return b.list }

// filter keeps the rows for which the predicate is true. The record has the
// columns of a scan, by name.
func (b *boundPredicate) filter(ctx context.Context, record arrow.Record, position func(column int) int) (arrow.Record, error) {
	values, err := b.root.eval(func(column int) arrow.Array { return record.Column(position(column)) }, int(record.NumRows()))
	if err != nil {
		return nil, err
	}
	kept := 0
	for _, v := range values {
		if v == yes {
			kept++
		}
	}
	switch kept {
	case len(values):
		record.Retain()
		return record, nil
	case 0:
		return record.NewSlice(0, 0), nil
	}
	mask := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer mask.Release()
	mask.Reserve(len(values))
	for _, v := range values {
		mask.UnsafeAppend(v == yes)
	}
	bits := mask.NewArray()
	defer bits.Release()
	return compute.FilterRecordBatch(ctx, record, bits, compute.DefaultFilterOptions())
}

// possible tells by partitions alone whether the predicate may hold for a row of
// a file.
func (b *boundPredicate) possible(r *Reader, file int) bool {
	yes, _ := b.root.possible(func(column int) *columnStats { return r.partitionStats(file, column) })
	return yes
}

// partitionStats is nil for a column of the files.
func (r *Reader) partitionStats(file, column int) *columnStats {
	from := r.origins[column]
	if !from.partition {
		return nil
	}
	a, err := partitionArray(r.schema.Field(column).Type, r.keys[file][from.at], 1)
	if err != nil {
		return nil
	}
	s := &columnStats{rows: 1, hasNulls: true, nulls: int64(a.NullN())}
	if s.nulls == 0 {
		s.partition = a
	}
	return s
}

// mayMatch tells by the statistics of a row group whether the predicate may hold
// for a row of it.
func (b *boundPredicate) mayMatch(p *part, group, file int, r *Reader) (bool, error) {
	match := true
	err := p.run("read statistics", func() error {
		match, _ = b.root.possible(func(column int) *columnStats {
			if r.origins[column].partition {
				return r.partitionStats(file, column)
			}
			return p.stats(group, r.origins[column].at)
		})
		return nil
	})
	return match, err
}

// stats reads the statistics of one field of a row group; nil if there are none
// that can be trusted.
func (p *part) stats(group, field int) *columnStats {
	f := &p.manifest.Fields[field]
	if len(f.Children) > 0 {
		return nil
	}
	chunk, err := p.meta.RowGroup(group).ColumnChunk(f.ColIndex)
	if err != nil {
		return nil
	}
	typed, err := chunk.Statistics()
	if err != nil || typed == nil {
		return nil
	}
	s := &columnStats{rows: p.groupRows(group), hasNulls: typed.HasNullCount(), nulls: typed.NullCount()}
	switch f.Field.Type.ID() {
	case arrow.UINT8, arrow.UINT16, arrow.UINT32:
		s.unsigned = true
	}
	// Before orders were defined, some writers compared all bytes as signed ones.
	defined := p.meta.Schema.Column(f.ColIndex).ColumnOrder() == parquet.ColumnOrders.TypeDefinedOrder
	if typed.HasMinMax() && (defined || !s.unsigned && typed.Type() != parquet.Types.ByteArray) {
		s.typed = typed
	}
	return s
}

// intStats are the least and greatest of integers, dates, times and booleans.
func intStats(s *columnStats) (least, most int64, ok bool) {
	if s.partition != nil {
		value, err := integersOf(s.partition)
		if err != nil {
			return 0, 0, false
		}
		return value(0), value(0), true
	}
	switch typed := s.typed.(type) {
	case *metadata.Int32Statistics:
		least, most = int64(typed.Min()), int64(typed.Max())
		if s.unsigned {
			least, most = int64(uint32(typed.Min())), int64(uint32(typed.Max()))
		}
		return least, most, least <= most
	case *metadata.Int64Statistics:
		return typed.Min(), typed.Max(), typed.Min() <= typed.Max()
	case *metadata.BooleanStatistics:
		return boolNumber(typed.Min()), boolNumber(typed.Max()), boolNumber(typed.Min()) <= boolNumber(typed.Max())
	}
	return 0, 0, false
}

func floatStats(s *columnStats) (least, most float64, ok bool) {
	if s.partition != nil {
		value, err := floatsOf(s.partition)
		if err != nil {
			return 0, 0, false
		}
		return value(0), value(0), true
	}
	switch typed := s.typed.(type) {
	case *metadata.Float32Statistics:
		least, most = float64(typed.Min()), float64(typed.Max())
	case *metadata.Float64Statistics:
		least, most = typed.Min(), typed.Max()
	default:
		return 0, 0, false
	}
	return least, most, least <= most
}

// textStats are bounds: long values may have been cut, in the safe direction.
func textStats(s *columnStats) (least, most string, ok bool) {
	if s.partition != nil {
		value, err := stringsOf(s.partition)
		if err != nil {
			return "", "", false
		}
		return value(0), value(0), true
	}
	typed, is := s.typed.(*metadata.ByteArrayStatistics)
	if !is {
		return "", "", false
	}
	least, most = string(typed.Min()), string(typed.Max())
	return least, most, least <= most
}

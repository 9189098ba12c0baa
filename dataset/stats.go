package dataset

import (
	"encoding/json"
	"math"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

const (
	maxStatColumns = 1000 // of a file; more would make manifests longer than footers
	maxStatText    = 64   // bytes of a least or greatest text
)

// statistics sums up the columns of a file by its footer.
func (p *part) statistics() (map[string]ColumnStats, error) {
	meta := p.meta
	if meta.Schema.NumColumns() > maxStatColumns {
		return nil, nil
	}
	columns := make(map[string]ColumnStats)
	for i := range meta.Schema.NumColumns() {
		var sum extent
		for group := range p.groups {
			chunk, err := meta.RowGroup(group).ColumnChunk(i)
			if err != nil {
				return nil, err
			}
			found, err := chunk.Statistics()
			if err != nil {
				return nil, err
			}
			sum.add(found)
		}
		leaf, err := p.manifest.GetColumnField(i)
		if err != nil {
			return nil, err
		}
		if !sum.silent {
			columns[meta.Schema.Column(i).Path()] = sum.stats(leaf)
		}
	}
	return columns, nil
}

// extent is what the row groups seen so far say of a column.
type extent struct {
	nulls    int64
	min, max any  // of the physical type
	unknown  bool // a row group does not say what they are
	silent   bool // a row group says nothing at all
}

func (e *extent) add(found metadata.TypedStatistics) {
	if found == nil || !found.HasNullCount() {
		e.silent = true
		return
	}
	e.nulls += found.NullCount()
	if !found.HasMinMax() {
		e.unknown = e.unknown || found.NumValues() > 0
		return
	}
	switch s := found.(type) {
	case *metadata.BooleanStatistics:
		widen(e, s.Min(), s.Max(), func(a, b bool) bool { return !a && b })
	case *metadata.Int32Statistics:
		widen(e, s.Min(), s.Max(), ordered[int32](s))
	case *metadata.Int64Statistics:
		widen(e, s.Min(), s.Max(), ordered[int64](s))
	case *metadata.Float32Statistics:
		widen(e, s.Min(), s.Max(), func(a, b float32) bool { return a < b })
	case *metadata.Float64Statistics:
		widen(e, s.Min(), s.Max(), func(a, b float64) bool { return a < b })
	case *metadata.ByteArrayStatistics:
		widen(e, string(s.Min()), string(s.Max()), func(a, b string) bool { return a < b })
	case *metadata.FixedLenByteArrayStatistics:
		widen(e, decimal(s.Min()), decimal(s.Max()), func(a, b decimal128.Num) bool { return a.Cmp(b) < 0 })
	default:
		e.unknown = true
	}
}

// ordered compares as the type does whose statistics they are: with a sign or without.
func ordered[T int32 | int64](s metadata.TypedStatistics) func(a, b T) bool {
	if s.Descr().SortOrder() == schema.SortUNSIGNED {
		return func(a, b T) bool { return uint64(a) < uint64(b) } // both of one sign bit keep their order when extended
	}
	return func(a, b T) bool { return a < b }
}

func widen[T any](e *extent, low, high T, less func(a, b T) bool) {
	if e.min == nil || less(low, e.min.(T)) {
		e.min = low
	}
	if e.max == nil || less(e.max.(T), high) {
		e.max = high
	}
}

// decimal reads a big-endian number in two's complement.
func decimal(raw parquet.FixedLenByteArray) decimal128.Num {
	var high int64
	var low uint64
	if len(raw) > 0 && raw[0]&0x80 != 0 {
		high, low = -1, math.MaxUint64
	}
	for _, b := range raw {
		high, low = high<<8|int64(low>>56), low<<8|uint64(b)
	}
	return decimal128.New(high, low)
}

// stats says it in JSON. What JSON or the type cannot say is left out.
func (e *extent) stats(leaf *pqarrow.SchemaField) ColumnStats {
	stats := ColumnStats{Nulls: e.nulls}
	if e.unknown || e.min == nil {
		return stats
	}
	low, ok1 := readable(e.min, leaf.Field.Type)
	high, ok2 := readable(e.max, leaf.Field.Type)
	if !ok1 || !ok2 {
		return stats
	}
	min, err1 := json.Marshal(low)
	max, err2 := json.Marshal(high)
	if err1 == nil && err2 == nil { // infinity is none that JSON knows
		stats.Min, stats.Max = min, max
	}
	return stats
}

// readable turns a value of a physical type into one that people read.
func readable(value any, kind arrow.DataType) (any, bool) {
	switch v := value.(type) {
	case int32:
		return readableInteger(int64(v), kind)
	case int64:
		return readableInteger(v, kind)
	case string:
		return v, kind.ID() == arrow.STRING && len(v) <= maxStatText && utf8.ValidString(v)
	case decimal128.Num:
		d, ok := kind.(*arrow.Decimal128Type)
		if !ok {
			return nil, false
		}
		return v.ToString(d.Scale), true
	}
	return value, true
}

func readableInteger(n int64, kind arrow.DataType) (any, bool) {
	switch k := kind.(type) {
	case *arrow.Uint32Type:
		return uint32(n), true
	case *arrow.Uint64Type:
		return uint64(n), true
	case *arrow.Date32Type:
		return arrow.Date32(n).ToTime().Format(time.DateOnly), true
	case *arrow.TimestampType:
		layout := "2006-01-02T15:04:05.999999999"
		if k.TimeZone != "" {
			layout += "Z"
		}
		return arrow.Timestamp(n).ToTime(k.Unit).Format(layout), true
	case *arrow.Decimal128Type:
		return decimal128.FromI64(n).ToString(k.Scale), true
	case *arrow.Time32Type, *arrow.Time64Type, *arrow.DurationType:
		return nil, false
	}
	return n, true
}

package dataset

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"
)

// ColumnStatistics is what the footers say of one column of all files. Least and
// Most are text as the values are written in conditions; nil means that some row
// group does not say.
type ColumnStatistics struct {
	Name        string
	Nulls       *int64
	Least, Most *string
	Bytes       int64 // compressed, with all that is nested in it
}

// statsSum adds up the statistics of one column.
type statsSum struct {
	column      ColumnStatistics
	kind        arrow.DataType
	any         bool // a row group with values
	nullsKnown  bool
	boundsKnown bool
	nulls       int64
	ints        [2]int64
	floats      [2]float64
	texts       [2]string
}

// Statistics reads all footers and sums up what they say of each column of the
// files, in order.
func (r *Reader) Statistics(ctx context.Context) ([]ColumnStatistics, error) {
	sums := make([]statsSum, r.stored.NumFields())
	for i, field := range r.stored.Fields() {
		sums[i] = statsSum{column: ColumnStatistics{Name: field.Name}, kind: field.Type, nullsKnown: true, boundsKnown: true}
	}
	var mu sync.Mutex // guards sums
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(footersAtOnce)
	for i := range r.files {
		g.Go(func() error {
			p, err := r.part(ctx, i)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			return p.run("read statistics", func() error {
				for group := range p.groups {
					for field := range sums {
						sums[field].add(p, group, field)
					}
				}
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := make([]ColumnStatistics, len(sums))
	for i := range sums {
		list[i] = sums[i].sum()
	}
	return list, nil
}

// add takes one row group in.
func (s *statsSum) add(p *part, group, field int) {
	s.column.Bytes += p.storedBytes(group, field)
	stats := p.stats(group, field)
	if p.groupRows(group) == 0 {
		return
	}
	if stats == nil {
		s.nullsKnown, s.boundsKnown = false, false
		return
	}
	s.nullsKnown = s.nullsKnown && stats.hasNulls
	s.nulls += stats.nulls
	if stats.hasNulls && stats.nulls == stats.rows {
		return // it has no values to be bounded
	}
	s.boundsKnown = s.boundsKnown && s.bound(stats)
	s.any = true
}

// bound widens the bounds, and reports whether the row group has any.
func (s *statsSum) bound(stats *columnStats) bool {
	switch s.kind.ID() {
	case arrow.FLOAT32, arrow.FLOAT64:
		least, most, ok := floatStats(stats)
		s.floats = widened(s.any, s.floats, least, most)
		return ok
	case arrow.STRING, arrow.LARGE_STRING:
		least, most, ok := textStats(stats)
		s.texts = widened(s.any, s.texts, least, most)
		return ok
	case arrow.BOOL, arrow.DATE32, arrow.TIMESTAMP, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32:
		least, most, ok := intStats(stats)
		s.ints = widened(s.any, s.ints, least, most)
		return ok
	}
	return false
}

func widened[T int64 | float64 | string](any bool, bounds [2]T, least, most T) [2]T {
	if !any {
		return [2]T{least, most}
	}
	return [2]T{min(bounds[0], least), max(bounds[1], most)}
}

func (s *statsSum) sum() ColumnStatistics {
	c := s.column
	if s.nullsKnown {
		c.Nulls = &s.nulls
	}
	if s.any && s.boundsKnown {
		least, most := s.text(0), s.text(1)
		c.Least, c.Most = &least, &most
	}
	return c
}

// text writes a bound as a condition would. Parquet has writers say -0 for a bound of 0, which plus 0 is 0.
func (s *statsSum) text(i int) string {
	switch kind := s.kind.(type) {
	case *arrow.Float32Type:
		return strconv.FormatFloat(s.floats[i]+0, 'g', -1, 32)
	case *arrow.Float64Type:
		return strconv.FormatFloat(s.floats[i]+0, 'g', -1, 64)
	case *arrow.StringType, *arrow.LargeStringType:
		return s.texts[i]
	case *arrow.BooleanType:
		return strconv.FormatBool(s.ints[i] == 1)
	case *arrow.Date32Type:
		return time.Unix(s.ints[i]*24*60*60, 0).UTC().Format(time.DateOnly)
	case *arrow.TimestampType:
		return arrow.Timestamp(s.ints[i]).ToTime(kind.Unit).UTC().Format(time.RFC3339Nano)
	}
	return strconv.FormatInt(s.ints[i], 10)
}

package dataset

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// shapes watches the lengths of the lists in each column.
type shapes [][]lengths // [column][depth]

// lengths are those of the lists at one depth.
type lengths struct {
	seen     bool
	min, max int64
}

func (l *lengths) add(n int64) {
	if !l.seen {
		l.min, l.max = n, n
	}
	l.seen = true
	l.min, l.max = min(l.min, n), max(l.max, n)
}

func newShapes(schema *arrow.Schema) shapes {
	s := make(shapes, schema.NumFields())
	for i, field := range schema.Fields() {
		for kind := field.Type; ; {
			list, ok := kind.(arrow.ListLikeType)
			if !ok || kind.ID() == arrow.MAP {
				break
			}
			s[i] = append(s[i], lengths{})
			kind = list.Elem()
		}
	}
	return s
}

// add looks at the rows of a batch.
func (s shapes) add(batch arrow.Record) {
	for i, depths := range s {
		values := batch.Column(i)
		for depth := range depths {
			values = depths[depth].list(values)
		}
		if len(depths) > 0 {
			values.Release()
		}
	}
}

// list notes the lengths of the lists in column, and returns their items, which
// the caller releases. Items of a list that is null do not count, but none has any
// save in lists of fixed size, whose length is known.
func (l *lengths) list(column arrow.Array) arrow.Array {
	lists := column.(array.ListLike)
	first, last := int64(0), int64(0)
	for row := range column.Len() {
		start, end := lists.ValueOffsets(row)
		if row == 0 {
			first = start
		}
		last = end
		if column.IsValid(row) {
			l.add(end - start)
		}
	}
	return array.NewSlice(lists.ListValues(), first, last)
}

// describe adds what is known of shapes to the columns of a manifest.
func (s shapes) describe(list []Field) []Field {
	for i, depths := range s {
		if len(depths) == 0 {
			continue
		}
		list[i].MaxLength = depths[0].max
		var shape []int64
		for _, l := range depths {
			if !l.seen || l.min != l.max {
				shape = nil
				break
			}
			shape = append(shape, l.max)
		}
		list[i].Shape = shape
	}
	return list
}

package dataset

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// column is a top-level column: a tree of lists and structs over leaves.
type column struct {
	field    *pqarrow.SchemaField
	leaf     *leaf // nil unless there are no children
	children []*column
}

// leaves lists the leaf columns below c.
func (c *column) leaves() []*leaf {
	if c.leaf != nil {
		return []*leaf{c.leaf}
	}
	var list []*leaf
	for _, child := range c.children {
		list = append(list, child.leaves()...)
	}
	return list
}

// read decodes the next rows of every leaf and puts the tree together.
func (c *column) read(rows int64) (arrow.Array, error) {
	for _, l := range c.leaves() {
		if err := l.read(rows); err != nil {
			return nil, fmt.Errorf("column %q: %w", l.name, err)
		}
	}
	data, err := c.build()
	if err == nil && int64(data.Len()) != rows {
		err = fmt.Errorf("%d rows where %d are expected", data.Len(), rows)
	}
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.field.Field.Name, err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// build makes the array of c out of what its leaves read last.
func (c *column) build() (arrow.ArrayData, error) {
	if c.leaf != nil {
		return leafArray(c.leaf, c.field)
	}
	switch kind := c.field.Field.Type.(type) {
	case *arrow.StructType:
		return c.buildStruct(kind)
	case *arrow.ListType, *arrow.MapType, *arrow.FixedSizeListType:
		return c.buildList(kind)
	}
	return nil, unsupported("type %s", c.field.Field.Type)
}

// shape is a leaf whose levels tell of the places of c: one within as few lists
// as there are.
func (c *column) shape() *leaf {
	leaves := c.leaves()
	best := leaves[0]
	for _, l := range leaves {
		if l.maxRep < best.maxRep {
			best = l
		}
	}
	return best
}

func (c *column) buildStruct(kind arrow.DataType) (arrow.ArrayData, error) {
	s := structSlots(c.shape().levels, c.field.LevelInfo)
	children, err := c.buildChildren(s.n)
	if err != nil {
		return nil, err
	}
	defer release(children)
	return array.NewData(kind, s.n, []*memory.Buffer{s.buffer()}, children, s.nulls, 0), nil
}

// buildChildren makes the arrays below c, of n places each; n < 0 is any number.
func (c *column) buildChildren(n int) (list []arrow.ArrayData, err error) {
	defer func() {
		if err != nil {
			release(list)
		}
	}()
	for _, child := range c.children {
		data, err := child.build()
		if err != nil {
			return list, err
		}
		list = append(list, data)
		if n >= 0 && data.Len() != n {
			return list, fmt.Errorf("a member %q in %d places, the struct has %d", child.field.Field.Name, data.Len(), n)
		}
	}
	return list, nil
}

func release(list []arrow.ArrayData) {
	for _, data := range list {
		data.Release()
	}
}

// structSlots is leafSlots for a struct, by the levels of a leaf below it, which
// may lie within further lists.
func structSlots(lv levels, info file.LevelInfo) slots {
	if lv.def == nil {
		return slots{n: lv.n}
	}
	ancestor, defined, deepest := uint8(info.RepeatedAncestorDefLevel), uint8(info.DefLevel), uint8(info.RepLevel)
	s := slots{valid: make([]byte, bitutil.BytesForBits(int64(lv.n)))}
	for i, level := range lv.def {
		switch {
		case level < ancestor || (lv.rep != nil && lv.rep[i] > deepest):
		case level >= defined:
			s.valid[s.n>>3] |= 1 << (s.n & 7)
			s.n++
		default:
			s.nulls++
			s.n++
		}
	}
	return s.trim()
}

func (c *column) buildList(kind arrow.DataType) (arrow.ArrayData, error) {
	lv := c.shape().levels
	if lv.rep == nil || lv.def == nil {
		return nil, errors.New("a list without levels")
	}
	s, offsets := listSlots(lv, c.field.LevelInfo)
	if offsets[0] != 0 {
		return nil, errors.New("a member before the first list")
	}
	children, err := c.buildChildren(-1)
	if err != nil {
		return nil, err
	}
	defer release(children)
	if len(children) != 1 || children[0].Len() != int(offsets[s.n]) {
		return nil, fmt.Errorf("%d members in lists of %d", children[0].Len(), offsets[s.n])
	}
	if fixed, ok := kind.(*arrow.FixedSizeListType); ok {
		if err := checkSizes(offsets[:s.n+1], int(fixed.Len()), s); err != nil {
			return nil, err
		}
		return array.NewData(kind, s.n, []*memory.Buffer{s.buffer()}, children, s.nulls, 0), nil
	}
	raw := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets[:s.n+1]))
	return array.NewData(kind, s.n, []*memory.Buffer{s.buffer(), raw}, children, s.nulls, 0), nil
}

// listSlots finds the places of a list and where the members of each begin. The
// level of info is that of a member; the one below it is that of an empty list.
func listSlots(lv levels, info file.LevelInfo) (slots, []int32) {
	ancestor, member, deepest := uint8(info.RepeatedAncestorDefLevel), uint8(info.DefLevel), uint8(info.RepLevel)
	s := slots{valid: make([]byte, bitutil.BytesForBits(int64(lv.n)))}
	offsets := make([]int32, 1, lv.n+1)
	members := int32(0)
	for i, level := range lv.def {
		rep := lv.rep[i]
		if level < ancestor || rep > deepest {
			continue
		}
		if rep < deepest { // a list begins
			if level >= member-1 {
				s.valid[s.n>>3] |= 1 << (s.n & 7)
			} else {
				s.nulls++
			}
			s.n++
			offsets = append(offsets, members)
		}
		if level >= member {
			members++
			offsets[len(offsets)-1] = members
		}
	}
	return s.trim(), offsets
}

// checkSizes refuses lists of other lengths, and null ones, which would need
// members that the file does not hold.
func checkSizes(offsets []int32, size int, s slots) error {
	if s.nulls > 0 {
		return unsupported("null among lists of a fixed size")
	}
	for i := range s.n {
		if n := int(offsets[i+1] - offsets[i]); n != size {
			return fmt.Errorf("a list of %d where all have %d", n, size)
		}
	}
	return nil
}

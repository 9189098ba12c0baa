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

// slots tells which places of an Arrow array the levels of a leaf stand for.
type slots struct {
	n     int    // places
	nulls int    // of them
	valid []byte // bitmap; nil if there are no nulls
}

// leafSlots finds the places of a leaf's own array: a level below that of the
// nearest list around it stands for no place at all.
func leafSlots(lv levels, info file.LevelInfo) slots {
	if lv.def == nil {
		return slots{n: lv.n}
	}
	ancestor, defined := uint8(info.RepeatedAncestorDefLevel), uint8(info.DefLevel)
	if ancestor == 0 && count(lv.def, defined) == lv.n {
		return slots{n: lv.n}
	}
	s := slots{valid: make([]byte, bitutil.BytesForBits(int64(lv.n)))}
	for _, level := range lv.def {
		switch {
		case level >= defined:
			s.valid[s.n>>3] |= 1 << (s.n & 7)
			s.n++
		case level >= ancestor:
			s.nulls++
			s.n++
		}
	}
	return s.trim()
}

func (s slots) trim() slots {
	if s.nulls == 0 {
		s.valid = nil
	}
	return s
}

func (s slots) buffer() *memory.Buffer {
	if s.valid == nil {
		return nil
	}
	return memory.NewBufferBytes(s.valid)
}

// leafArray makes the array of a leaf out of what was read of it last.
func leafArray(l *leaf, field *pqarrow.SchemaField) (arrow.ArrayData, error) {
	s := leafSlots(l.levels, field.LevelInfo)
	if s.n-s.nulls != l.values.n {
		return nil, fmt.Errorf("%d values in %d places, %d of them null", l.values.n, s.n, s.nulls)
	}
	kind := field.Field.Type
	if dictionary, ok := kind.(*arrow.DictionaryType); ok {
		return dictionaryArray(l, s, dictionary)
	}
	return plainArray(l, s, kind)
}

func plainArray(l *leaf, s slots, kind arrow.DataType) (arrow.ArrayData, error) {
	if extension, ok := kind.(arrow.ExtensionType); ok {
		data, err := plainArray(l, s, extension.StorageType())
		if err != nil {
			return nil, err
		}
		return array.NewData(kind, data.Len(), data.Buffers(), nil, data.NullN(), 0), nil
	}
	if kind.ID() == arrow.NULL {
		return array.NewData(kind, s.n, []*memory.Buffer{nil}, nil, s.n, 0), nil
	}
	if l.width == 0 && !isDecimal(kind) {
		return stringArray(l, s, kind)
	}
	values, err := convert(l, kind)
	if err != nil {
		return nil, err
	}
	if kind.ID() == arrow.BOOL {
		return boolArray(values, s), nil
	}
	width := kind.(arrow.FixedWidthDataType).BitWidth() / 8
	return array.NewData(kind, s.n, []*memory.Buffer{s.buffer(), memory.NewBufferBytes(spread(values, s, width))}, nil, s.nulls, 0), nil
}

// spread moves dense values of equal width to their places.
func spread(values []byte, s slots, width int) []byte {
	if s.nulls == 0 {
		return values
	}
	out := make([]byte, s.n*width)
	from := 0
	for to := range s.n {
		if s.valid[to>>3]>>(to&7)&1 != 0 {
			copy(out[to*width:(to+1)*width], values[from:])
			from += width
		}
	}
	return out
}

func boolArray(values []byte, s slots) arrow.ArrayData {
	bits := make([]byte, bitutil.BytesForBits(int64(s.n)))
	for i, v := range spread(values, s, 1) {
		bits[i>>3] |= v << (i & 7)
	}
	return array.NewData(arrow.FixedWidthTypes.Boolean, s.n, []*memory.Buffer{s.buffer(), memory.NewBufferBytes(bits)}, nil, s.nulls, 0)
}

func stringArray(l *leaf, s slots, kind arrow.DataType) (arrow.ArrayData, error) {
	offsets := l.values.offsets
	if offsets == nil {
		offsets = []int32{0}
	}
	if s.nulls > 0 {
		offsets = spreadOffsets(offsets, s)
	}
	var raw []byte
	switch kind.ID() {
	case arrow.STRING, arrow.BINARY:
		raw = arrow.Int32Traits.CastToBytes(offsets)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		long := make([]int64, len(offsets))
		for i, v := range offsets {
			long[i] = int64(v)
		}
		raw = arrow.Int64Traits.CastToBytes(long)
	default:
		return nil, unsupported("byte arrays as %s", kind)
	}
	data := l.values.data
	if data == nil {
		data = []byte{} // nil would make empty values look like null
	}
	buffers := []*memory.Buffer{s.buffer(), memory.NewBufferBytes(raw), memory.NewBufferBytes(data)}
	return array.NewData(kind, s.n, buffers, nil, s.nulls, 0), nil
}

// spreadOffsets gives nulls a length of zero.
func spreadOffsets(dense []int32, s slots) []int32 {
	out := make([]int32, s.n+1)
	from := 0
	for to := range s.n {
		if s.valid[to>>3]>>(to&7)&1 != 0 {
			from++
		}
		out[to+1] = dense[from]
	}
	return out
}

// dictionaryArray encodes the values again, as the Arrow schema of the file
// wants them. Only files that were written by way of Arrow have such columns.
func dictionaryArray(l *leaf, s slots, kind *arrow.DictionaryType) (arrow.ArrayData, error) {
	data, err := plainArray(l, s, kind.ValueType)
	if err != nil {
		return nil, err
	}
	values := array.MakeFromData(data)
	defer values.Release()
	builder := array.NewDictionaryBuilder(memory.DefaultAllocator, kind)
	defer builder.Release()
	if err := builder.AppendArray(values); err != nil {
		return nil, err
	}
	encoded := builder.NewArray()
	if encoded.Len() != values.Len() {
		return nil, errors.New("a dictionary could not be made again")
	}
	return encoded.Data(), nil
}

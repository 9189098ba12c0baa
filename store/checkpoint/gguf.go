package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// ggufTypes gives bytes and values of a block of each tensor type (ggml.h, enum ggml_type).
func ggufTypes() map[uint32][2]uint64 {
	return map[uint32][2]uint64{
		0: {4, 1}, 1: {2, 1}, 2: {18, 32}, 3: {20, 32}, 6: {22, 32}, 7: {24, 32}, 8: {34, 32}, 9: {36, 32},
		10: {84, 256}, 11: {110, 256}, 12: {144, 256}, 13: {176, 256}, 14: {210, 256}, 15: {292, 256},
		24: {1, 1}, 25: {2, 1}, 26: {4, 1}, 27: {8, 1}, 28: {8, 1}, 30: {2, 1},
	}
}

// ggufReader reads the header of a GGUF file (GGUF specification, version 3; 2 is the same on disk).
type ggufReader struct {
	in   *bufio.Reader
	at   int64
	size int64
	err  error
}

// checkGGUF wants the file to reach as far as the last tensor of its header. Of types that are not in the table only
// the beginning is asked for.
func checkGGUF(o *object) error {
	r := &ggufReader{in: bufio.NewReader(io.NewSectionReader(o, 0, o.Size)), size: o.Size}
	end := r.end()
	name := o.Key.Base()
	switch {
	case errors.Is(r.err, io.EOF), errors.Is(r.err, io.ErrUnexpectedEOF):
		return notWhole("%s: it ends within its header", name)
	case r.err != nil:
		return r.err
	case end > uint64(o.Size):
		return notWhole("%s: it ends at byte %d, and byte %d is wanted", name, o.Size, end)
	}
	return nil
}

// end is where the last tensor ends.
func (r *ggufReader) end() uint64 {
	magic := r.number(4)
	if version := r.number(4); r.err == nil && (magic != 0x46554747 || version < 2 || version > 3) {
		r.err = notWhole("it has no GGUF header of version 2 or 3")
		return 0
	}
	tensors, pairs := r.number(8), r.number(8)
	alignment := uint64(32)
	for i := uint64(0); i < pairs && r.err == nil; i++ {
		key, kind := r.text(), r.number(4)
		if v := r.value(kind, 0); key == "general.alignment" && kind == 4 && v > 0 {
			alignment = v
		}
	}
	last := uint64(0)
	for i := uint64(0); i < tensors && r.err == nil; i++ {
		last = max(last, r.tensor())
	}
	if r.err != nil {
		return 0
	}
	header := uint64(r.at)
	return plus(header+(alignment-header%alignment)%alignment, last)
}

// tensor is where the data of one tensor ends, counted from the first.
func (r *ggufReader) tensor() uint64 {
	r.text()
	values := uint64(1)
	for dims := r.number(4); dims > 0 && r.err == nil; dims-- {
		values = times(values, r.number(8))
	}
	kind, offset := r.number(4), r.number(8)
	block, known := ggufTypes()[uint32(kind)]
	if !known {
		return offset
	}
	return plus(offset, times(values/block[1], block[0]))
}

// value skips a value of the metadata and returns it if it is a number.
func (r *ggufReader) value(kind uint64, depth int) uint64 {
	switch kind {
	case 0, 1, 7:
		return r.number(1)
	case 2, 3:
		return r.number(2)
	case 4, 5, 6:
		return r.number(4)
	case 10, 11, 12:
		return r.number(8)
	case 8:
		r.text()
	case 9:
		of, n := r.number(4), r.number(8)
		for ; n > 0 && r.err == nil && depth < 4; n-- {
			r.value(of, depth+1)
		}
	default:
		if r.err == nil {
			r.err = notWhole("its header has a value of unknown type %d", kind)
		}
	}
	return 0
}

func (r *ggufReader) number(n int) uint64 {
	var b [8]byte
	if r.err == nil {
		_, r.err = io.ReadFull(r.in, b[:n])
		r.at += int64(n)
	}
	return binary.LittleEndian.Uint64(b[:])
}

// text gives the first bytes of a string and skips the rest.
func (r *ggufReader) text() string {
	n := r.number(8)
	if r.err == nil && n > uint64(r.size) {
		r.err = io.ErrUnexpectedEOF
	}
	if r.err != nil {
		return ""
	}
	kept := make([]byte, min(n, 64))
	if _, r.err = io.ReadFull(r.in, kept); r.err == nil {
		_, r.err = io.CopyN(io.Discard, r.in, int64(n)-int64(len(kept)))
	}
	r.at += int64(n)
	return string(kept)
}

// plus and times stop at the largest number.
func plus(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func times(a, b uint64) uint64 {
	if b != 0 && a > math.MaxUint64/b {
		return math.MaxUint64
	}
	return a * b
}

package dataset

import (
	"encoding/binary"
	"fmt"
)

// runs decodes Parquet's hybrid of run lengths and packed bits (Parquet spec,
// RLE/bit-packing hybrid).
type runs struct {
	rest   []byte
	width  uint // bits of a value, at most 32
	left   int  // values left in the run
	value  uint32
	packed []byte // of a packed run; nil in a run of equal values
	bit    int    // position in packed
}

// start begins a run.
func (r *runs) start() error {
	head, n := binary.Uvarint(r.rest)
	if n <= 0 {
		return fmt.Errorf("it ends before its last run")
	}
	r.rest = r.rest[n:]
	if head>>1 > maxPageValues {
		return fmt.Errorf("a run of %d values", head>>1)
	}
	if head&1 == 0 {
		return r.startEqual(int(head >> 1))
	}
	size := int(head>>1) * int(r.width)
	r.left = int(head>>1) * 8
	if size > len(r.rest) { // the last run may be cut at its last value
		size = len(r.rest)
		if r.width > 0 {
			r.left = size * 8 / int(r.width)
		}
	}
	r.packed, r.rest, r.bit = r.rest[:size:size], r.rest[size:], 0
	if r.packed == nil {
		r.packed = []byte{}
	}
	return nil
}

func (r *runs) startEqual(n int) error {
	size := int(r.width+7) / 8
	if size > len(r.rest) {
		return fmt.Errorf("it ends within a run")
	}
	r.value = 0
	for i := range size {
		r.value |= uint32(r.rest[i]) << (8 * i)
	}
	r.rest = r.rest[size:]
	r.left, r.packed = n, nil
	return nil
}

// readRuns fills to.
func readRuns[T uint8 | uint32](r *runs, to []T) error {
	for len(to) > 0 {
		for r.left == 0 {
			if len(r.rest) == 0 {
				return fmt.Errorf("it ends %d values early", len(to))
			}
			if err := r.start(); err != nil {
				return err
			}
		}
		n := min(len(to), r.left)
		if r.packed == nil {
			fillEqual(to[:n], T(r.value))
		} else {
			unpack(to[:n], r.packed, r.bit, r.width)
			r.bit += n * int(r.width)
		}
		to, r.left = to[n:], r.left-n
	}
	return nil
}

func fillEqual[T uint8 | uint32](to []T, value T) {
	for i := range to {
		to[i] = value
	}
}

// unpack reads values of width bits each, the lowest bit first, from position
// bit. They lie within packed.
func unpack[T uint8 | uint32](to []T, packed []byte, bit int, width uint) {
	mask := uint64(1)<<width - 1
	i := 0
	for ; i < len(to) && bit>>3+8 <= len(packed); i++ {
		to[i] = T(binary.LittleEndian.Uint64(packed[bit>>3:]) >> (bit & 7) & mask)
		bit += int(width)
	}
	if i == len(to) {
		return
	}
	var tail [16]byte // the rest lies within the last 8 bytes
	first := min(bit>>3, len(packed))
	copy(tail[:], packed[first:])
	bit -= first * 8
	for ; i < len(to); i++ {
		to[i] = T(binary.LittleEndian.Uint64(tail[bit>>3:]) >> (bit & 7) & mask)
		bit += int(width)
	}
}

// bitsFor is the width of a number up to highest.
func bitsFor(highest int) uint {
	width := uint(0)
	for ; highest > 0; highest >>= 1 {
		width++
	}
	return width
}

package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// readDeltas decodes one sequence of DELTA_BINARY_PACKED (Parquet spec, Delta
// encoding), of most values at most, and returns what follows it. Sums wrap
// around, as they do where the values are of 32 bits.
func readDeltas(data []byte, most int) (values []int64, rest []byte, err error) {
	c := &thriftCursor{rest: data} // the numbers are coded as Thrift codes them
	blockSize, miniblocks, total := c.uvarint(), c.uvarint(), c.uvarint()
	value := c.int()
	switch {
	case c.err != nil:
		return nil, nil, c.err
	case total > uint64(most):
		return nil, nil, fmt.Errorf("%d deltas in a page of %d values", total, most)
	case blockSize == 0 || blockSize%128 != 0 || blockSize > 1<<20 || miniblocks == 0 || blockSize%(miniblocks*32) != 0:
		return nil, nil, fmt.Errorf("blocks of %d deltas in %d parts", blockSize, miniblocks)
	case total == 0:
		return nil, c.rest, nil
	}
	values = make([]int64, 0, total)
	values = append(values, value)
	for len(values) < int(total) {
		if values, err = deltaBlock(c, values, int(total), int(miniblocks), int(blockSize/miniblocks)); err != nil {
			return nil, nil, err
		}
	}
	return values, c.rest, nil
}

// deltaBlock appends the values of one block.
func deltaBlock(c *thriftCursor, values []int64, total, miniblocks, size int) ([]int64, error) {
	least := c.int()
	if c.err != nil || len(c.rest) < miniblocks {
		return nil, errors.New("it ends within a block of deltas")
	}
	widths := c.rest[:miniblocks]
	c.rest = c.rest[miniblocks:]
	last := values[len(values)-1]
	for _, width := range widths {
		if len(values) == total { // the widths of parts that are not there may be anything
			break
		}
		bytes := size / 8 * int(width)
		if width > 64 || bytes > len(c.rest) {
			return nil, fmt.Errorf("deltas of %d bits in %d bytes", width, len(c.rest))
		}
		packed := c.rest[:bytes]
		c.rest = c.rest[bytes:]
		for i := 0; i < size && len(values) < total; i++ {
			last += least + int64(bitsAt(packed, i*int(width), uint(width)))
			values = append(values, last)
		}
	}
	return values, nil
}

// bitsAt reads width bits at position bit.
func bitsAt(packed []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	var window [16]byte
	copy(window[:], packed[bit>>3:])
	shift := uint(bit & 7)
	v := binary.LittleEndian.Uint64(window[:]) >> shift
	if shift+width > 64 {
		v |= uint64(window[8]) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

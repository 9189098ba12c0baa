package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// inputBlock is how many bytes of text one core parses at a time. Blocks end
	// where a row does, so they depend on the bytes alone.
	inputBlock = 1 << 20
	maxRow     = 64 << 20 // bytes of a row of text
)

// blocks cuts text into pieces of whole rows.
type blocks struct {
	r io.Reader
	// cut is where the last row of data ends, 0 if none does.
	cut  func(data []byte) int
	rest []byte // read, and not part of a block yet
	err  error  // of r
}

// next returns a block, at the end io.EOF. The last row may lack its line end.
func (b *blocks) next() ([]byte, error) {
	for size := inputBlock; ; size *= 2 {
		block, err := b.fill(size)
		if err != nil {
			return nil, err
		}
		if b.err != nil { // nothing follows
			if len(block) == 0 {
				return nil, b.err
			}
			return block, nil
		}
		if end := b.cut(block); end > 0 {
			b.rest = append([]byte(nil), block[end:]...)
			return block[:end], nil
		}
		if size >= maxRow {
			return nil, fmt.Errorf("a row is longer than %d MiB: is a quote left open?", maxRow>>20)
		}
		b.rest = block
	}
}

// fill reads until size bytes are there, or the end.
func (b *blocks) fill(size int) ([]byte, error) {
	block := make([]byte, size)
	n := copy(block, b.rest)
	b.rest = nil
	for n < size && b.err == nil { // not io.ReadFull: a compression cut short says io.ErrUnexpectedEOF too
		var read int
		read, b.err = b.r.Read(block[n:])
		n += read
	}
	if b.err != nil && !errors.Is(b.err, io.EOF) {
		return nil, b.err
	}
	return block[:n], nil
}

// cutLines ends a block behind its last line.
func cutLines(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// cutRows ends a block behind the last line end that no quotes enclose. Quotes
// within a field are doubled (RFC 4180), so that an even number of them precedes
// the end of a row.
func cutRows(data []byte) int {
	before := bytes.Count(data, []byte{'"'})
	for end := len(data); ; {
		at := bytes.LastIndexByte(data[:end], '\n')
		if at < 0 {
			return 0
		}
		if before -= bytes.Count(data[at:end], []byte{'"'}); before%2 == 0 {
			return at + 1
		}
		end = at
	}
}

package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// newDictionaryDecoder reads the values of a page that names them by their
// numbers in the dictionary of the column chunk.
func (l *leaf) newDictionaryDecoder(data []byte) (decoder, error) {
	if l.dictionary == nil {
		return nil, errors.New("a page needs a dictionary, and there is none")
	}
	if len(data) == 0 { // a page of nulls
		return &indexed{from: l.dictionary, width: l.width}, nil
	}
	if data[0] > 32 {
		return nil, fmt.Errorf("numbers of %d bits in a dictionary", data[0])
	}
	return &indexed{from: l.dictionary, width: l.width, runs: runs{rest: data[1:], width: uint(data[0])}}, nil
}

// indexed takes values from a dictionary.
type indexed struct {
	from    *dense
	width   int
	runs    runs
	scratch []uint32
}

func (p *indexed) read(d *dense, n int) error {
	if cap(p.scratch) < n {
		p.scratch = make([]uint32, n)
	}
	at := p.scratch[:n]
	if err := readRuns(&p.runs, at); err != nil {
		return err
	}
	highest := uint32(0)
	for _, i := range at {
		highest = max(highest, i)
	}
	if n > 0 && int64(highest) >= int64(p.from.n) {
		return fmt.Errorf("value %d of a dictionary of %d", highest, p.from.n)
	}
	switch p.width {
	case 0:
		return p.bytes(d, at)
	case 4:
		to := d.grow(n, 4)
		for i, v := range at {
			binary.LittleEndian.PutUint32(to[i*4:], binary.LittleEndian.Uint32(p.from.fixed[v*4:]))
		}
	case 8:
		to := d.grow(n, 8)
		for i, v := range at {
			binary.LittleEndian.PutUint64(to[i*8:], binary.LittleEndian.Uint64(p.from.fixed[int(v)*8:]))
		}
	default:
		to := d.grow(n, p.width)
		for i, v := range at {
			copy(to[i*p.width:(i+1)*p.width], p.from.fixed[int(v)*p.width:])
		}
	}
	return nil
}

// bytes adds the byte arrays with the numbers at: first their ends, then their
// bytes into the room that this shows to be needed.
func (p *indexed) bytes(d *dense, at []uint32) error {
	if d.offsets == nil {
		d.offsets = make([]int32, 1, len(at)+1)
	}
	ends, total := p.from.offsets, int64(len(d.data))
	for _, v := range at {
		total += int64(ends[v+1] - ends[v])
		if total > maxBatchData {
			return unsupported("more than %d bytes in one column of a batch; ask for batches of fewer rows", maxBatchData)
		}
		d.offsets = append(d.offsets, int32(total))
	}
	data := d.data
	if room := int(total); cap(data) < room {
		data = make([]byte, len(d.data), max(room, 2*len(d.data)))
		copy(data, d.data)
	}
	for _, v := range at {
		data = append(data, p.from.data[ends[v]:ends[v+1]]...)
	}
	d.data, d.n = data, d.n+len(at)
	return nil
}

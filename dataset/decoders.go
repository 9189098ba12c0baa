package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// dense holds values of one leaf column without its nulls, one after the other.
type dense struct {
	n       int
	fixed   []byte  // values of equal width; a boolean is one byte
	offsets []int32 // of byte arrays: n+1, into data
	data    []byte
}

// maxBatchData bounds the bytes of one column of strings in one batch: offsets
// have 31 bits.
const maxBatchData = math.MaxInt32 >> 1

func (d *dense) reset() {
	d.n, d.fixed, d.offsets, d.data = 0, nil, nil, nil
}

// grow makes room for n more values of that width.
func (d *dense) grow(n, width int) []byte {
	at := len(d.fixed)
	d.fixed = slices.Grow(d.fixed, n*width)[:at+n*width]
	d.n += n
	return d.fixed[at:]
}

// appendBytes adds one byte array.
func (d *dense) appendBytes(value ...[]byte) error {
	if d.offsets == nil {
		d.offsets = append(d.offsets, 0)
	}
	for _, piece := range value {
		if len(d.data)+len(piece) > maxBatchData {
			return unsupported("more than %d bytes in one column of a batch; ask for batches of fewer rows", maxBatchData)
		}
		d.data = append(d.data, piece...)
	}
	d.offsets = append(d.offsets, int32(len(d.data)))
	d.n++
	return nil
}

// decoder takes values out of a page.
type decoder interface {
	// read adds the next n values to d.
	read(d *dense, n int) error
}

var errPageShort = errors.New("a page ends before its last value")

// newDecoder reads the values of a page of at most n values that are not null.
func (l *leaf) newDecoder(encoding int32, data []byte, n int) (decoder, error) {
	switch encoding {
	case plain:
		switch {
		case l.boolean:
			return &plainBools{data: data}, nil
		case l.width > 0:
			return &plainFixed{data: data, width: l.width}, nil
		}
		return &plainBytes{data: data}, nil
	case plainDictionary, dictionaryIndex:
		return l.newDictionaryDecoder(data)
	case runLength:
		if !l.boolean || len(data) < 4 {
			return nil, fmt.Errorf("values in encoding RLE, %d bytes", len(data))
		}
		return &runBools{runs{rest: data[4:], width: 1}}, nil
	case deltaBinaryPacked:
		values, _, err := readDeltas(data, n)
		if l.boolean || (l.width != 4 && l.width != 8) {
			err = errors.New("deltas in a column that holds no integers")
		}
		return &deltaInts{values: values, width: l.width}, err
	case deltaLength:
		if l.width > 0 {
			return nil, errors.New("lengths in a column of equal ones")
		}
		lengths, rest, err := readDeltas(data, n)
		return &deltaLengths{lengths: lengths, data: rest}, err
	case deltaByteArray:
		return l.newDeltaBytes(data, n)
	case byteStreamSplit:
		if l.width == 0 || l.boolean || len(data)%l.width != 0 {
			return nil, fmt.Errorf("%d bytes in encoding BYTE_STREAM_SPLIT", len(data))
		}
		return &splitFixed{data: data, width: l.width, n: len(data) / l.width}, nil
	}
	return nil, fmt.Errorf("values in encoding %d", encoding)
}

type plainFixed struct {
	data  []byte
	width int
}

func (p *plainFixed) read(d *dense, n int) error {
	if n*p.width > len(p.data) {
		return errPageShort
	}
	copy(d.grow(n, p.width), p.data)
	p.data = p.data[n*p.width:]
	return nil
}

type plainBools struct {
	data []byte
	at   int
}

func (p *plainBools) read(d *dense, n int) error {
	if p.at+n > len(p.data)*8 {
		return errPageShort
	}
	unpack(d.grow(n, 1), p.data, p.at, 1)
	p.at += n
	return nil
}

type runBools struct{ runs runs }

func (r *runBools) read(d *dense, n int) error { return readRuns(&r.runs, d.grow(n, 1)) }

type plainBytes struct{ data []byte }

func (p *plainBytes) read(d *dense, n int) error {
	if d.offsets == nil {
		d.offsets = make([]int32, 1, n+1)
	}
	if len(d.data)+len(p.data) > maxBatchData && len(p.data) > 0 {
		return p.readSlowly(d, n)
	}
	offsets, data, rest := slices.Grow(d.offsets, n), d.data, p.data
	for range n {
		if len(rest) < 4 {
			return errPageShort
		}
		size := uint64(binary.LittleEndian.Uint32(rest))
		if size > uint64(len(rest)-4) {
			return errPageShort
		}
		data = append(data, rest[4:4+size]...)
		rest = rest[4+size:]
		offsets = append(offsets, int32(len(data)))
	}
	d.offsets, d.data, p.data = offsets, data, rest
	d.n += n
	return nil
}

// readSlowly looks at the limit before each value.
func (p *plainBytes) readSlowly(d *dense, n int) error {
	for range n {
		if len(p.data) < 4 {
			return errPageShort
		}
		size := uint64(binary.LittleEndian.Uint32(p.data))
		if size > uint64(len(p.data)-4) {
			return errPageShort
		}
		if err := d.appendBytes(p.data[4 : 4+size]); err != nil {
			return err
		}
		p.data = p.data[4+size:]
	}
	return nil
}

type deltaInts struct {
	values []int64
	width  int
}

func (p *deltaInts) read(d *dense, n int) error {
	if n > len(p.values) {
		return errPageShort
	}
	to := d.grow(n, p.width)
	for i, v := range p.values[:n] {
		if p.width == 4 {
			binary.LittleEndian.PutUint32(to[i*4:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(to[i*8:], uint64(v))
		}
	}
	p.values = p.values[n:]
	return nil
}

type deltaLengths struct {
	lengths []int64
	data    []byte
}

func (p *deltaLengths) read(d *dense, n int) error {
	if n > len(p.lengths) {
		return errPageShort
	}
	for _, size := range p.lengths[:n] {
		if size < 0 || size > int64(len(p.data)) {
			return errPageShort
		}
		if err := d.appendBytes(p.data[:size]); err != nil {
			return err
		}
		p.data = p.data[size:]
	}
	p.lengths = p.lengths[n:]
	return nil
}

// deltaBytes are byte arrays of which each begins as the one before it.
type deltaBytes struct {
	shared   []int64 // bytes taken from the one before
	suffixes deltaLengths
	last     []byte
	width    int // of each; 0 = any
}

func (l *leaf) newDeltaBytes(data []byte, n int) (decoder, error) {
	if l.boolean || (l.width > 0 && !l.fixedBytes) {
		return nil, errors.New("byte arrays in a column of numbers")
	}
	shared, rest, err := readDeltas(data, n)
	if err != nil {
		return nil, err
	}
	lengths, rest, err := readDeltas(rest, n)
	if err == nil && len(lengths) != len(shared) {
		err = fmt.Errorf("%d prefixes and %d suffixes", len(shared), len(lengths))
	}
	return &deltaBytes{shared: shared, suffixes: deltaLengths{lengths: lengths, data: rest}, width: l.width}, err
}

func (p *deltaBytes) read(d *dense, n int) error {
	if n > len(p.shared) {
		return errPageShort
	}
	for i, shared := range p.shared[:n] {
		size := p.suffixes.lengths[i]
		if shared < 0 || shared > int64(len(p.last)) || size < 0 || size > int64(len(p.suffixes.data)) || shared+size > maxBatchData {
			return errPageShort
		}
		p.last = append(p.last[:shared], p.suffixes.data[:size]...)
		p.suffixes.data = p.suffixes.data[size:]
		if err := p.add(d); err != nil {
			return err
		}
	}
	p.shared, p.suffixes.lengths = p.shared[n:], p.suffixes.lengths[n:]
	return nil
}

func (p *deltaBytes) add(d *dense) error {
	if p.width == 0 {
		return d.appendBytes(p.last)
	}
	if len(p.last) != p.width {
		return fmt.Errorf("a value of %d bytes where all have %d", len(p.last), p.width)
	}
	copy(d.grow(1, p.width), p.last)
	return nil
}

// splitFixed holds the first bytes of all values, then the second ones.
type splitFixed struct {
	data         []byte
	width, n, at int
}

func (p *splitFixed) read(d *dense, n int) error {
	if n > p.n-p.at {
		return errPageShort
	}
	to := d.grow(n, p.width)
	for b := range p.width {
		for i, v := range p.data[b*p.n+p.at:][:n] {
			to[i*p.width+b] = v
		}
	}
	p.at += n
	return nil
}

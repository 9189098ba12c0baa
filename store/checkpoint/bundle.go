package checkpoint

import (
	"encoding/binary"
	"errors"
)

// The table of a TensorFlow checkpoint's index (tensorflow/core/lib/io/table_format.txt) and the fields of its
// messages (tensor_bundle.proto).
const (
	tableMagic   = 0xdb4775248b80fb57
	tableFooter  = 48 // bytes
	blockTrailer = 5  // bytes behind each block: how it is compressed, and a checksum

	headerShards                      = 1
	entryShard, entryStart, entrySize = 3, 4, 5
)

var errTable = errors.New("it is cut off or no index of a checkpoint")

// parseBundle reads from an index how far each data file must reach, in bytes.
func parseBundle(b []byte) ([]int64, error) {
	if len(b) < tableFooter || binary.LittleEndian.Uint64(b[len(b)-8:]) != tableMagic {
		return nil, errTable
	}
	footer := b[len(b)-tableFooter:]
	_, footer, ok := handle(footer) // of the meta index
	at, _, ok2 := handle(footer)
	if !ok || !ok2 {
		return nil, errTable
	}
	var shards []int64
	index, err := block(b, at)
	if err != nil {
		return nil, err
	}
	err = eachEntry(index, func(_, value []byte) error {
		at, _, ok := handle(value)
		if !ok {
			return errTable
		}
		entries, err := block(b, at)
		if err != nil {
			return err
		}
		return eachEntry(entries, func(key, value []byte) error { return addEntry(&shards, len(key) == 0, value) })
	})
	if err == nil && len(shards) == 0 {
		err = errTable
	}
	return shards, err
}

// addEntry takes the header, which comes first, or an entry.
func addEntry(shards *[]int64, header bool, value []byte) error {
	m, ok := protoNumbers(value)
	switch {
	case !ok:
		return errTable
	case header:
		if m[headerShards] < 1 || m[headerShards] > maxShards {
			return errTable
		}
		*shards = make([]int64, m[headerShards])
		return nil
	case m[entryShard] >= uint64(len(*shards)), m[entryStart] > 1<<60, m[entrySize] > 1<<60:
		return errTable
	}
	size := &(*shards)[m[entryShard]]
	*size = max(*size, int64(m[entryStart]+m[entrySize]))
	return nil
}

// handle reads where a block lies: offset and length.
func handle(b []byte) (at [2]uint64, rest []byte, ok bool) {
	for i := range at {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return at, nil, false
		}
		at[i], b = v, b[n:]
	}
	return at, b, true
}

// block is the body of a block. Checkpoints have theirs uncompressed.
func block(b []byte, at [2]uint64) ([]byte, error) {
	size := uint64(len(b))
	if at[0] > size || at[1] > size || at[0]+at[1]+blockTrailer > size {
		return nil, errTable
	}
	body := b[at[0] : at[0]+at[1]]
	if b[at[0]+at[1]] != 0 {
		return nil, errors.New("it is compressed")
	}
	if len(body) < 4 {
		return nil, errTable
	}
	restarts := uint64(binary.LittleEndian.Uint32(body[len(body)-4:]))
	if restarts*4+4 > uint64(len(body)) {
		return nil, errTable
	}
	return body[:uint64(len(body))-restarts*4-4], nil
}

// eachEntry walks the entries of a block: keys share beginnings with the one before.
func eachEntry(b []byte, do func(key, value []byte) error) error {
	var key []byte
	for len(b) > 0 {
		var lengths [3]uint64 // of the key, shared and new, and of the value
		for i := range lengths {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return errTable
			}
			lengths[i], b = v, b[n:]
		}
		shared, fresh, value := lengths[0], lengths[1], lengths[2]
		if shared > uint64(len(key)) || fresh > uint64(len(b)) || value > uint64(len(b))-fresh {
			return errTable
		}
		key = append(key[:shared:shared], b[:fresh]...)
		if err := do(key, b[fresh:fresh+value]); err != nil {
			return err
		}
		b = b[fresh+value:]
	}
	return nil
}

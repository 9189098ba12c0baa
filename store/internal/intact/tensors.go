package intact

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// maxHeader is the format's own limit.
const maxHeader = 100_000_000

// checkSafetensors wants the length of the header, the header, and exactly the
// bytes that its tensors take.
func checkSafetensors(f file) error {
	b, err := f.read(0, 8)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader {
		return incomplete("its header would have %d bytes", n)
	}
	if b, err = f.read(8, int64(n)); err != nil {
		return err
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(b, &entries); err != nil {
		return incomplete("its header is no JSON object")
	}
	var data uint64
	for name, raw := range entries {
		if name == "__metadata__" {
			continue
		}
		var tensor struct {
			Offsets [2]uint64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &tensor); err != nil {
			return incomplete("its header tells no place of %q", name)
		}
		data = max(data, tensor.Offsets[1])
	}
	if have := uint64(f.size) - 8 - n; have != data {
		return incomplete("it holds %d bytes of tensors, not %d", have, data)
	}
	return nil
}

// checkParquet wants the magic at both ends and a footer that fits between them.
func checkParquet(f file) error {
	head, err := f.read(0, 4)
	if err != nil {
		return err
	}
	tail, err := f.read(f.size-8, 8)
	if err != nil {
		return err
	}
	footer := int64(binary.LittleEndian.Uint32(tail))
	known := bytes.Equal(head, []byte("PAR1")) || bytes.Equal(head, []byte("PARE"))
	if !known || !bytes.Equal(head, tail[4:]) || footer == 0 || footer > f.size-12 {
		return incomplete("its footer is missing")
	}
	return nil
}

const hdf5Magic = "\x89HDF\r\n\x1a\n"

// checkHDF5 finds the superblock, which may stand behind a block of the user's
// of 512 bytes or a doubling of them, and reads where the file ends. The library
// cuts a file to that length when it closes it, and writes it last: a file under
// way has no superblock, or one that still tells of the few bytes of its
// beginning.
func checkHDF5(f file) error {
	for at := int64(0); at+8 <= f.size; at = max(512, at*2) {
		b, err := f.read(at, 8)
		if err != nil {
			return err
		}
		if string(b) == hdf5Magic {
			return checkSuperblock(f, at)
		}
	}
	return incomplete("its superblock is missing")
}

func checkSuperblock(f file, at int64) error {
	version, err := f.read(at+8, 1)
	if err != nil {
		return err
	}
	// Where the size of an address stands, and the first address; the end of the
	// file is the third.
	var sizeAt, first int64
	switch version[0] {
	case 0:
		sizeAt, first = 13, 24
	case 1:
		sizeAt, first = 13, 28
	case 2, 3:
		sizeAt, first = 9, 12
	default:
		return nil // newer than we are
	}
	width, err := f.read(at+sizeAt, 1)
	if err != nil {
		return err
	}
	b, err := f.read(at+first+2*int64(width[0]), int64(width[0]))
	if err != nil {
		return err
	}
	var address [8]byte
	copy(address[:], b)
	if end := binary.LittleEndian.Uint64(address[:]); end != uint64(f.size) {
		return incomplete("it has %d bytes, and its superblock tells of %d", f.size, end)
	}
	return nil
}

package checkpoint

import (
	"encoding/binary"
	"errors"
	"io"
)

// checkONNX wants the fields of a ModelProto to fill the file, a graph (7) and what is written after it, the operator
// sets (8), among them.
func checkONNX(o *object) error { return checkProto(o, 7, 8) }

// checkProto walks the outer fields of a protocol buffer message.
func checkProto(o *object, wanted ...uint64) error {
	name := o.Key.Base()
	seen := map[uint64]bool{}
	for at := int64(0); at < o.Size; {
		field, end, err := o.protoField(at)
		if err != nil {
			return err
		}
		if end > o.Size || end <= at {
			return notWhole("%s: it ends at byte %d, and byte %d is wanted", name, o.Size, end)
		}
		seen[field], at = true, end
	}
	for _, field := range wanted {
		if !seen[field] {
			return notWhole("%s: it has no field %d", name, field)
		}
	}
	return nil
}

// protoField gives the number of the field at an offset, and where it ends; 0 as the end where it is none.
func (o *object) protoField(at int64) (field uint64, end int64, err error) {
	head := make([]byte, min(2*binary.MaxVarintLen64, o.Size-at))
	if _, err := o.ReadAt(head, at); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	tag, n := binary.Uvarint(head)
	if n <= 0 {
		return 0, 0, nil
	}
	body, m := binary.Uvarint(head[n:])
	switch at += int64(n); tag & 7 {
	case 0:
		if m <= 0 {
			return 0, 0, nil
		}
		return tag >> 3, at + int64(m), nil
	case 1:
		return tag >> 3, at + 8, nil
	case 2:
		if m <= 0 || body > uint64(o.Size) {
			return tag >> 3, o.Size + 1, nil
		}
		return tag >> 3, at + int64(m) + int64(body), nil
	case 5:
		return tag >> 3, at + 4, nil
	}
	return 0, 0, nil
}

// protoNumbers reads the fields of a small message that are numbers, the last of each, and says which others it has.
func protoNumbers(b []byte) (numbers map[uint64]uint64, ok bool) {
	numbers = map[uint64]uint64{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		size := uint64(0)
		switch tag & 7 {
		case 0:
			v, m := binary.Uvarint(b)
			if m <= 0 {
				return nil, false
			}
			numbers[tag>>3], size = v, uint64(m)
		case 1:
			size = 8
		case 2:
			v, m := binary.Uvarint(b)
			if m <= 0 || v > uint64(len(b)) {
				return nil, false
			}
			size = v + uint64(m)
		case 5:
			size = 4
		default:
			return nil, false
		}
		if size > uint64(len(b)) {
			return nil, false
		}
		b = b[size:]
	}
	return numbers, true
}

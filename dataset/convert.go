package dataset

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
)

func isDecimal(kind arrow.DataType) bool {
	return kind.ID() == arrow.DECIMAL128 || kind.ID() == arrow.DECIMAL256
}

// convert turns dense values as Parquet stores them into those of an Arrow type
// of fixed width.
func convert(l *leaf, kind arrow.DataType) ([]byte, error) {
	fixed := l.values.fixed
	if isDecimal(kind) {
		return decimals(l, kind.(arrow.FixedWidthDataType).BitWidth()/8)
	}
	wide, ok := kind.(arrow.FixedWidthDataType)
	if !ok {
		return nil, unsupported("physical type %s as %s", l.physical, kind)
	}
	switch width := wide.BitWidth() / 8; {
	case kind.ID() == arrow.BOOL && l.boolean:
		return fixed, nil
	case l.boolean || kind.ID() == arrow.BOOL:
	case l.physical == parquet.Types.Int96 && kind.ID() == arrow.TIMESTAMP:
		return int96(fixed, kind.(*arrow.TimestampType).Unit)
	case l.physical == parquet.Types.Int32 && kind.ID() == arrow.DATE64:
		return days(fixed), nil
	case l.fixedBytes && (kind.ID() == arrow.FIXED_SIZE_BINARY || kind.ID() == arrow.FLOAT16) && width == l.width:
		return fixed, nil
	case l.fixedBytes:
	case width == l.width:
		return fixed, nil
	case width < l.width && arrow.IsInteger(kind.ID()):
		return narrow(fixed, l.width, width), nil
	}
	return nil, unsupported("physical type %s as %s", l.physical, kind)
}

// narrow keeps the low bytes of integers, which is what they were written from.
func narrow(values []byte, from, to int) []byte {
	out := make([]byte, len(values)/from*to)
	for i := range len(values) / from {
		copy(out[i*to:(i+1)*to], values[i*from:])
	}
	return out
}

func days(values []byte) []byte {
	out := make([]byte, len(values)*2)
	for i := range len(values) / 4 {
		day := int64(int32(binary.LittleEndian.Uint32(values[i*4:])))
		binary.LittleEndian.PutUint64(out[i*8:], uint64(day*24*60*60*1000))
	}
	return out
}

// int96 makes times since 1970 of Impala's: nanoseconds of the day, and the
// Julian day.
func int96(values []byte, unit arrow.TimeUnit) ([]byte, error) {
	const julianEpoch, nanosOfDay = 2440588, 24 * 60 * 60 * 1_000_000_000
	if unit != arrow.Nanosecond {
		return nil, unsupported("physical type INT96 in units of %s", unit)
	}
	out := make([]byte, len(values)/12*8)
	for i := range len(values) / 12 {
		nanos := int64(binary.LittleEndian.Uint64(values[i*12:]))
		day := int64(int32(binary.LittleEndian.Uint32(values[i*12+8:]))) - julianEpoch
		binary.LittleEndian.PutUint64(out[i*8:], uint64(day*nanosOfDay+nanos))
	}
	return out, nil
}

// decimals makes little-endian numbers of width bytes out of integers, or of
// big-endian byte arrays, with their sign.
func decimals(l *leaf, width int) ([]byte, error) {
	out := make([]byte, l.values.n*width)
	for i := range l.values.n {
		to := out[i*width : (i+1)*width]
		switch {
		case l.width == 0:
			value := l.values.data[l.values.offsets[i]:l.values.offsets[i+1]]
			if len(value) == 0 || len(value) > width {
				return nil, unsupported("a decimal of %d bytes", len(value))
			}
			fromBigEndian(to, value)
		case l.fixedBytes:
			if l.width > width {
				return nil, unsupported("a decimal of %d bytes", l.width)
			}
			fromBigEndian(to, l.values.fixed[i*l.width:(i+1)*l.width])
		case l.boolean || l.width > 8:
			return nil, unsupported("physical type %s as a decimal", l.physical)
		default:
			value := l.values.fixed[i*l.width : (i+1)*l.width]
			copy(to, value)
			extend(to[l.width:], value[l.width-1])
		}
	}
	return out, nil
}

func fromBigEndian(to, value []byte) {
	for i, b := range value {
		to[len(value)-1-i] = b
	}
	extend(to[len(value):], value[0])
}

// extend continues the sign of the highest byte.
func extend(to []byte, highest byte) {
	if highest < 0x80 {
		return
	}
	for i := range to {
		to[i] = 0xff
	}
}

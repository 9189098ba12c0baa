package store

import "hash/crc32"

// crc32c is the CRC-32C of p.
func crc32c(p []byte) uint32 { return addCRC(0, p) }

// addCRC is the CRC-32C of what had crc, followed by p.
func addCRC(crc uint32, p []byte) uint32 {
	return crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), p)
}

// combineCRC is the CRC-32C of two pieces in a row, from that of each and the
// length of the second in bytes: appending a byte multiplies the first by x^8,
// modulo the polynomial, and the pieces add up.
func combineCRC(first, second uint32, length int64) uint32 {
	power := uint32(1 << 23) // x^8; the highest bit is x^0
	for n := length; n > 0; n >>= 1 {
		if n&1 == 1 {
			first = multiplyCRC(first, power)
		}
		power = multiplyCRC(power, power)
	}
	return first ^ second
}

// multiplyCRC multiplies two polynomials modulo that of CRC-32C.
func multiplyCRC(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		b = b>>1 ^ crc32.Castagnoli*(b&1)
	}
	return product
}

// crcOfParts is the CRC-32C of all parts in a row, and their size in bytes.
func crcOfParts(parts []part) (crc uint32, size int64) {
	for _, p := range parts {
		crc = combineCRC(crc, p.crc, p.size)
		size += p.size
	}
	return crc, size
}

package store

import (
	"math/rand/v2"
	"testing"
)

// TestCombineCRC sums up a body in one go and piece by piece.
func TestCombineCRC(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	body := make([]byte, 100_000)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	for _, sizes := range [][]int{{}, {0}, {1}, {0, 1, 0}, {7, 8, 9}, {65536, 1, 30_000}, {99_999, 1}} {
		var parts []part
		at := 0
		for _, n := range sizes {
			parts = append(parts, part{size: int64(n), crc: crc32c(body[at : at+n])})
			at += n
		}
		crc, size := crcOfParts(parts)
		if want := crc32c(body[:at]); crc != want || size != int64(at) {
			t.Errorf("%v: %08x of %d bytes, want %08x of %d", sizes, crc, size, want, at)
		}
	}
}

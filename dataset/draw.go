package dataset

import (
	"hash/fnv"
	"math"
	"math/bits"
)

// draw picks a fraction of the rows of one stratum, which it is asked about in
// order. Rows are taken in windows of w = ⌈1/f⌉. Of n rows, the first ⌊n·f + u⌋
// are to be picked once a window is complete, so that each window has one or two
// picks: those of its rows with the smallest random numbers. The number of
// row k is the k-th output of SplitMix64, and u its first, as a fraction of 2^64:
// both follow from seed, purpose and stratum alone.
//
// However many rows come, fewer than three more or less are picked than n·f.
type draw struct {
	fraction uint64 // f · 2^64
	window   uint64 // rows
	start    uint64 // state of SplitMix64
	offset   uint64 // u · 2^64
	next     uint64 // row
	picks    [2]uint64
	n        int // of picks
}

func newDraw(f float64, seed uint64, purpose, stratum string) *draw {
	name := fnv.New64a()
	name.Write(netstring(netstring(nil, purpose), stratum))
	d := &draw{
		fraction: uint64(f * (1 << 32) * (1 << 32)), // scaled exactly: by powers of two
		window:   uint64(math.Ceil(1 / f)),
		start:    splitMix(seed) ^ name.Sum64(),
	}
	d.offset = d.random(0)
	return d
}

// picked tells whether the next row is.
func (d *draw) picked() bool {
	k := d.next
	d.next++
	if k%d.window == 0 {
		d.choose(k)
	}
	for _, pick := range d.picks[:d.n] {
		if pick == k {
			return true
		}
	}
	return false
}

// choose picks from the window that begins at row first.
func (d *draw) choose(first uint64) {
	d.n = int(d.due(first+d.window) - d.due(first))
	var smallest [2]uint64
	for found, k := 0, first; k < first+d.window; k++ {
		x := d.random(k + 1)
		switch {
		case found == 0 || x < smallest[0]:
			smallest[1], d.picks[1] = smallest[0], d.picks[0]
			smallest[0], d.picks[0] = x, k
		case found == 1 || x < smallest[1]:
			smallest[1], d.picks[1] = x, k
		}
		found++
	}
}

// due is ⌊n·f + u⌋, in whole numbers, since processors round differently.
func (d *draw) due(n uint64) uint64 {
	high, low := bits.Mul64(n, d.fraction)
	_, carry := bits.Add64(low, d.offset, 0)
	return high + carry
}

func (d *draw) random(n uint64) uint64 {
	return splitMix(d.start + n*0x9e3779b97f4a7c15)
}

// splitMix is the step of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014).
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

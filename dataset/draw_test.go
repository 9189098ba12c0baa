package dataset

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestDraw picks what is promised: never three more or less than the fraction, of
// any number of rows.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64Range(0.001, 0.999).Draw(t, "fraction")
		d := newDraw(f, rapid.Uint64().Draw(t, "seed"), "val", rapid.String().Draw(t, "stratum"))
		picked := 0
		for n := 1; n <= 3000; n++ {
			if d.picked() {
				picked++
			}
			if off := math.Abs(float64(picked) - f*float64(n)); off >= 3 {
				t.Fatalf("%d of %d rows are picked, %v off", picked, n, off)
			}
		}
	})
}

// TestSplitMix has the first numbers of the reference implementation for seed 1234567.
func TestSplitMix(t *testing.T) {
	d := &draw{start: 1234567}
	for n, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := d.random(uint64(n)); got != want {
			t.Errorf("number %d is %d, want %d", n, got, want)
		}
	}
}

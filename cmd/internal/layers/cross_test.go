package layers

import (
	"math/rand/v2"
	"testing"
)

// The count by a tree of sums is that of looking at every pair.
func TestCrossingsAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := &plan{opts: Options{Gap: 10, Row: 10}}
		for range 2 + r.IntN(12) {
			p.boxes = append(p.boxes, Box{Width: 10, Height: 10})
		}
		for range r.IntN(30) {
			a, b := r.IntN(len(p.boxes)), r.IntN(len(p.boxes))
			p.links = append(p.links, Link{From: min(a, b), To: max(a, b)})
		}
		p.orient()
		p.rank()
		p.route()
		p.order()
		want := 0
		for i, a := range p.spans {
			for _, b := range p.spans[:i] {
				if p.stops[a.from].column == p.stops[b.from].column &&
					(p.stops[a.from].place-p.stops[b.from].place)*(p.stops[a.to].place-p.stops[b.to].place) < 0 {
					want++
				}
			}
		}
		if got := p.cross(); got != want || p.crossings != want {
			t.Fatalf("%d crossings counted, %d noted, want %d", got, p.crossings, want)
		}
	}
}

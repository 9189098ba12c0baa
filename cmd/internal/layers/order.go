package layers

import (
	"cmp"
	"slices"
)

// The sweeps end early when nothing has become better for a while.
const (
	maxSweeps = 24
	patience  = 6
)

// order puts the stops of each column in an order with few crossings: sweeps to and fro, in which each stop goes to the
// median of its neighbours in the column before, and the best that was seen stays.
func (p *plan) order() {
	p.plant()
	best, fewest := p.keep(), p.cross()
	for sweep, worse := 0, 0; sweep < maxSweeps && worse < patience && fewest > 0; sweep++ {
		forward := sweep%2 == 0
		for i := 1; i < len(p.columns); i++ {
			if forward {
				p.sort(i, true)
			} else {
				p.sort(len(p.columns)-1-i, false)
			}
		}
		worse++
		if n := p.cross(); n < fewest {
			best, fewest, worse = p.keep(), n, 0
		}
	}
	p.columns = best
	p.number()
	p.crossings = p.exchange(fewest)
}

// plant fills the columns by a walk from the left, so that what hangs together lies together.
func (p *plan) plant() {
	seen := make([]bool, len(p.stops))
	for first := range p.stops {
		if len(p.stops[first].in) > 0 || seen[first] {
			continue
		}
		seen[first] = true
		stack := []int{first}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			p.columns[p.stops[at].column] = append(p.columns[p.stops[at].column], at)
			for _, s := range slices.Backward(p.stops[at].out) {
				if to := p.spans[s].to; !seen[to] {
					seen[to] = true
					stack = append(stack, to)
				}
			}
		}
	}
	p.number()
}

// number notes the place of each stop.
func (p *plan) number() {
	for _, column := range p.columns {
		for place, at := range column {
			p.stops[at].place = place
		}
	}
}

func (p *plan) keep() [][]int {
	kept := make([][]int, len(p.columns))
	for i, column := range p.columns {
		kept[i] = slices.Clone(column)
	}
	return kept
}

// sort orders one column by the medians of its neighbours to the left, or to the right. Stops without any stay where
// they are.
func (p *plan) sort(column int, byLeft bool) {
	type wish struct {
		at   int
		want float64
	}
	var wishes []wish
	var places []int
	for place, at := range p.columns[column] {
		if near := p.places(at, byLeft); len(near) > 0 {
			wishes = append(wishes, wish{at, median(near)})
			places = append(places, place)
		}
	}
	slices.SortStableFunc(wishes, func(a, b wish) int { return cmp.Compare(a.want, b.want) })
	for i, w := range wishes {
		p.columns[column][places[i]] = w.at
		p.stops[w.at].place = places[i]
	}
}

// places lists the places of a stop's neighbours on one side, rising.
func (p *plan) places(at int, left bool) []int {
	spans := p.stops[at].out
	if left {
		spans = p.stops[at].in
	}
	places := make([]int, len(spans))
	for i, s := range spans {
		other := p.spans[s].to
		if left {
			other = p.spans[s].from
		}
		places[i] = p.stops[other].place
	}
	slices.Sort(places)
	return places
}

// median of an even number leans to the side where the places lie closer together (Gansner and others, "A technique
// for drawing directed graphs", 1993).
func median(places []int) float64 {
	n := len(places)
	mid := n / 2
	switch {
	case n%2 == 1:
		return float64(places[mid])
	case n == 2:
		return float64(places[0]+places[1]) / 2
	}
	left, right := float64(places[mid-1]-places[0]), float64(places[n-1]-places[mid])
	if left+right == 0 {
		return float64(places[mid-1]+places[mid]) / 2
	}
	return (float64(places[mid-1])*right + float64(places[mid])*left) / (left + right)
}

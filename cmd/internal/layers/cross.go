package layers

import (
	"cmp"
	"slices"
)

// cross counts the pairs of lines that cross.
func (p *plan) cross() int {
	total := 0
	for i := 1; i < len(p.columns); i++ {
		total += p.crossBefore(i)
	}
	return total
}

// crossBefore counts the crossings between a column and the one before it: pairs of lines whose ends are in opposite
// orders, summed up in a tree of counts.
func (p *plan) crossBefore(column int) int {
	var ends [][2]int
	for _, at := range p.columns[column] {
		for _, s := range p.stops[at].in {
			ends = append(ends, [2]int{p.stops[p.spans[s].from].place, p.stops[at].place})
		}
	}
	slices.SortFunc(ends, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	counts := make([]int, len(p.columns[column])+1)
	total := 0
	for done, end := range ends {
		notBelow := 0
		for i := end[1] + 1; i > 0; i -= i & -i {
			notBelow += counts[i]
		}
		total += done - notBelow
		for i := end[1] + 1; i < len(counts); i += i & -i {
			counts[i]++
		}
	}
	return total
}

// maxExchanged bounds the size of columns in which neighbours are tried in exchange.
const maxExchanged = 200

// exchange lets neighbours in a column change places as long as that takes crossings away.
func (p *plan) exchange(crossings int) int {
	for better := crossings > 0; better; {
		better = false
		for _, column := range p.columns {
			if len(column) > maxExchanged {
				continue
			}
			for i := 1; i < len(column); i++ {
				if gain := p.gain(column[i-1], column[i]); gain > 0 {
					column[i-1], column[i] = column[i], column[i-1]
					p.stops[column[i-1]].place, p.stops[column[i]].place = i-1, i
					crossings -= gain
					better = true
				}
			}
		}
	}
	return crossings
}

// gain is by how many crossings it is better to have b above a, which lies right above it now.
func (p *plan) gain(a, b int) int {
	gain := 0
	for _, left := range []bool{true, false} {
		above, below := p.places(a, left), p.places(b, left)
		gain += inverted(above, below) - inverted(below, above)
	}
	return gain
}

// inverted counts the pairs in which the first place is behind the second.
func inverted(above, below []int) int {
	n, i := 0, 0
	for _, place := range above {
		for i < len(below) && below[i] < place {
			i++
		}
		n += i
	}
	return n
}

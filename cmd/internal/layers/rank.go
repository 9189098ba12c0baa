package layers

import "slices"

// maxTightening is how often boxes are moved towards what they are linked to.
const maxTightening = 12

// rank gives each box a column: behind all that leads to it, and as near to its links as that allows.
func (p *plan) rank() {
	in, out := make([][]int, len(p.boxes)), make([][]int, len(p.boxes))
	for _, a := range p.arcs {
		in[a.to] = append(in[a.to], a.from)
		out[a.from] = append(out[a.from], a.to)
	}
	p.column = make([]int, len(p.boxes))
	order := p.sorted(in, out)
	for _, box := range order {
		for _, from := range in[box] {
			p.column[box] = max(p.column[box], p.column[from]+1)
		}
	}
	for range maxTightening {
		if !p.tighten(order, in, out) {
			break
		}
	}
	if len(p.column) == 0 {
		return
	}
	first := slices.Min(p.column)
	for box := range p.column {
		p.column[box] -= first
	}
}

// sorted lists the boxes so that arcs lead forward.
func (p *plan) sorted(in, out [][]int) []int {
	missing := make([]int, len(p.boxes))
	var order []int
	for box := range p.boxes {
		missing[box] = len(in[box])
		if missing[box] == 0 {
			order = append(order, box)
		}
	}
	for i := 0; i < len(order); i++ { // grows on the way
		for _, to := range out[order[i]] {
			if missing[to]--; missing[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return order
}

// tighten moves boxes with more links to the right than to the left to the right as far as they go, from the last, and
// says whether any moved.
func (p *plan) tighten(order []int, in, out [][]int) bool {
	moved := false
	for _, box := range slices.Backward(order) {
		if len(out[box]) <= len(in[box]) {
			continue
		}
		to := p.column[out[box][0]] - 1
		for _, next := range out[box] {
			to = min(to, p.column[next]-1)
		}
		if to != p.column[box] {
			p.column[box] = to
			moved = true
		}
	}
	return moved
}

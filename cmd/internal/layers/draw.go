package layers

import (
	"cmp"
	"math"
	"slices"
)

// draw turns columns and heights into places.
func (p *plan) draw() *Drawing {
	d := &Drawing{Boxes: make([]Point, len(p.boxes)), Loops: p.loops, Crossings: p.crossings}
	top := math.Inf(1)
	for _, s := range p.stops {
		top = min(top, s.y-s.height/2)
	}
	for i := range p.stops {
		s := &p.stops[i]
		s.y -= top
		d.Height = max(d.Height, s.y+s.height/2)
	}
	left, right := p.edges()
	for at, s := range p.stops {
		if s.box != noBox {
			d.Boxes[s.box] = Point{left[s.column], s.y - s.height/2}
		}
		for port, line := range p.arriving(at) {
			d.Lines = append(d.Lines, p.line(line, p.port(at, port), left, right))
		}
	}
	slices.SortStableFunc(d.Lines, func(a, b Line) int { return slices.Compare(a.Links, b.Links) })
	if n := len(right); n > 0 && len(p.boxes) > 0 {
		d.Width = right[n-1]
	}
	return d
}

// The gap between columns grows with the steepest line in it, to a limit.
const (
	steepness = 0.12
	widestGap = 3 // times the least
)

// edges are the left and right end of each column.
func (p *plan) edges() (left, right []float64) {
	widths, steepest := make([]float64, len(p.columns)), make([]float64, len(p.columns))
	for box, b := range p.boxes {
		widths[p.column[box]] = max(widths[p.column[box]], b.Width)
	}
	for _, s := range p.spans {
		from, to := p.stops[s.from], p.stops[s.to]
		steepest[to.column] = max(steepest[to.column], math.Abs(from.y-to.y))
	}
	left, right = make([]float64, len(widths)), make([]float64, len(widths))
	x := 0.0
	for i, width := range widths {
		if i > 0 {
			x += min(p.opts.Gap+steepness*steepest[i], widestGap*p.opts.Gap)
		}
		left[i] = x
		x += width
		right[i] = x
	}
	return left, right
}

// arriving lists the spans that arrive at a stop from the left, in the order of where they come from.
func (p *plan) arriving(at int) []int {
	spans := slices.Clone(p.stops[at].in)
	slices.SortStableFunc(spans, func(a, b int) int { return cmp.Compare(p.stops[p.spans[a].from].y, p.stops[p.spans[b].from].y) })
	return spans
}

// The lines that arrive at a box lie side by side, as far as there is room.
const (
	portApart = 14
	portEdge  = 14 // of a box's height without ports
)

// port is the height at which a line arrives, of several.
func (p *plan) port(at, n int) float64 {
	s := p.stops[at]
	if s.box == noBox || len(s.in) < 2 {
		return s.y
	}
	apart := max(0, min(portApart, (s.height-portEdge)/float64(len(s.in)-1)))
	return s.y + (float64(n)-float64(len(s.in)-1)/2)*apart
}

func (p *plan) line(index int, arrives float64, left, right []float64) Line {
	s := p.spans[index]
	from, to := p.stops[s.from], p.stops[s.to]
	l := Line{
		X0: right[from.column], Y0: from.y, C0: right[from.column], C1: left[to.column], X1: left[to.column], Y1: arrives,
		Links: slices.Sorted(slices.Values(s.links)), Against: s.against, Both: s.both,
	}
	if from.box != noBox {
		l.X0 = left[from.column] + p.boxes[from.box].Width
	}
	if to.box == noBox {
		l.X1 = right[to.column]
	}
	l.Head = s.against && from.box != noBox || !s.against && to.box != noBox
	return l
}

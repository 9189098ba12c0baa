package layers

// levelings is how often all columns are moved towards their neighbours.
const levelings = 16

// level gives each stop a height: in the order of its column, with room between, and as near to what it is linked with
// as that allows. Lines that pass columns weigh more, so that they are straight.
func (p *plan) level() {
	for _, column := range p.columns {
		y := 0.0
		for i, at := range column {
			if i > 0 {
				y += p.apart(column[i-1], at)
			}
			p.stops[at].y = y
		}
		for _, at := range column {
			p.stops[at].y -= y / 2
		}
	}
	for round := range levelings {
		for i := range p.columns {
			switch round % 3 {
			case 0:
				p.settle(i, true, false)
			case 1:
				p.settle(len(p.columns)-1-i, false, true)
			default:
				p.settle(i, true, true)
			}
		}
	}
}

// apart is the least distance of the middles of two stops of a column.
func (p *plan) apart(above, below int) float64 {
	a, b := p.stops[above], p.stops[below]
	room := p.opts.Row
	switch {
	case a.box == noBox && b.box == noBox:
		room = p.opts.Row / 2
	case a.box == noBox || b.box == noBox:
		room = p.opts.Row * 3 / 4
	}
	return (a.height+b.height)/2 + room
}

// wish is where a stop would like to be, and how much.
type wish struct{ y, weight float64 }

// settle moves the stops of a column to where the sum of the squares of their distances from what they wish is least:
// isotonic regression, by pooling neighbours that are in each other's way.
func (p *plan) settle(column int, left, right bool) {
	type pool struct {
		wish
		n int
	}
	var pools []pool
	stops := p.columns[column]
	offset := 0.0
	for i, at := range stops {
		if i > 0 {
			offset += p.apart(stops[i-1], at)
		}
		w := p.wish(at, left, right)
		pools = append(pools, pool{wish{w.y - offset, w.weight}, 1})
		for n := len(pools); n > 1 && pools[n-2].y > pools[n-1].y; n = len(pools) {
			a, b := pools[n-2], pools[n-1]
			sum := a.weight + b.weight
			pools[n-2] = pool{wish{(a.y*a.weight + b.y*b.weight) / sum, sum}, a.n + b.n}
			pools = pools[:n-1]
		}
	}
	offset = 0
	i := 0
	for _, pool := range pools {
		for range pool.n {
			if i > 0 {
				offset += p.apart(stops[i-1], stops[i])
			}
			p.stops[stops[i]].y = pool.y + offset
			i++
		}
	}
}

// The weights of lines, by whether their ends are points of passage, and of staying where one is.
const (
	weighBoxes    = 1
	weighPassing  = 2
	weighStraight = 8
	weighStaying  = 0.05
)

// wish is the middle of what a stop is linked with.
func (p *plan) wish(at int, left, right bool) wish {
	w := wish{p.stops[at].y * weighStaying, weighStaying}
	add := func(other int) {
		weight := float64(weighPassing)
		passing, otherPassing := p.stops[at].box == noBox, p.stops[other].box == noBox
		switch {
		case passing && otherPassing:
			weight = weighStraight
		case !passing && !otherPassing:
			weight = weighBoxes
		}
		w.y += p.stops[other].y * weight
		w.weight += weight
	}
	if left {
		for _, s := range p.stops[at].in {
			add(p.spans[s].from)
		}
	}
	if right {
		for _, s := range p.stops[at].out {
			add(p.spans[s].to)
		}
	}
	return wish{w.y / w.weight, w.weight}
}

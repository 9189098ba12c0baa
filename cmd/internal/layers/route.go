package layers

// passHeight is the room that a passing line takes.
const passHeight = 2

// route makes stops of boxes and of the points where links pass columns. Links from one box share these, but for those
// that run against the others.
func (p *plan) route() {
	for box, b := range p.boxes {
		p.stops = append(p.stops, stop{box: box, column: p.column[box], height: b.Height})
	}
	type passage struct{ from, column, alone int }
	passes := map[passage]int{}
	spans := map[[2]int]int{}
	for _, a := range p.arcs {
		at := a.from
		for column := p.column[a.from] + 1; column <= p.column[a.to]; column++ {
			next := a.to
			if column < p.column[a.to] {
				key := passage{a.from, column, noBox}
				if a.against {
					key.alone = a.link
				}
				stop, ok := passes[key]
				if !ok {
					stop = p.pass(column)
					passes[key] = stop
				}
				next = stop
			}
			p.join(spans, at, next, a)
			at = next
		}
	}
	last := 0
	for _, s := range p.stops {
		last = max(last, s.column)
	}
	p.columns = make([][]int, last+1)
}

func (p *plan) pass(column int) int {
	p.stops = append(p.stops, stop{box: noBox, column: column, height: passHeight})
	return len(p.stops) - 1
}

// join makes the line between two stops carry an arc.
func (p *plan) join(spans map[[2]int]int, from, to int, a arc) {
	key := [2]int{from, to}
	at, ok := spans[key]
	if !ok {
		at = len(p.spans)
		spans[key] = at
		p.spans = append(p.spans, span{from: from, to: to, against: a.against})
		p.stops[from].out = append(p.stops[from].out, at)
		p.stops[to].in = append(p.stops[to].in, at)
	}
	s := &p.spans[at]
	s.links = append(s.links, a.link)
	s.both = s.both || s.against != a.against
	s.against = s.against && a.against
}

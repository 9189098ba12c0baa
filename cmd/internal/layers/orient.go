package layers

// orient makes arcs of the links: each pair of boxes once, loops aside, and turned round where a walk through the graph
// comes back to a box that it has not left yet.
func (p *plan) orient() {
	out := make([][]int, len(p.boxes))
	entered := make([]bool, len(p.boxes))
	seen := map[Link]bool{}
	for i, l := range p.links {
		switch {
		case l.From == l.To:
			p.loops = append(p.loops, i)
		case !seen[l]:
			seen[l] = true
			out[l.From] = append(out[l.From], i)
			entered[l.To] = true
		}
	}
	w := &walk{plan: p, out: out, state: make([]walked, len(p.boxes))}
	for _, first := range []bool{true, false} {
		for box := range p.boxes {
			if entered[box] != first {
				w.from(box)
			}
		}
	}
}

type walked int

const (
	unseen walked = iota
	open
	left
)

// walk is a walk in depth. It keeps its way on a list, as chains may be long.
type walk struct {
	*plan
	out   [][]int
	state []walked
}

func (w *walk) from(start int) {
	if w.state[start] != unseen {
		return
	}
	type step struct{ box, done int }
	way := []step{{box: start}}
	w.state[start] = open
	for len(way) > 0 {
		at := &way[len(way)-1]
		if at.done == len(w.out[at.box]) {
			w.state[at.box] = left
			way = way[:len(way)-1]
			continue
		}
		link := w.out[at.box][at.done]
		at.done++
		to := w.links[link].To
		if w.state[to] == open {
			w.arcs = append(w.arcs, arc{from: to, to: at.box, link: link, against: true})
			continue
		}
		w.arcs = append(w.arcs, arc{from: at.box, to: to, link: link})
		if w.state[to] == unseen {
			w.state[to] = open
			way = append(way, step{box: to})
		}
	}
}

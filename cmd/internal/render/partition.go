package render

import (
	"maps"
	"slices"
)

// partition divides the nodes of a graph into classes, and refines them until the nodes of a class have equally many
// links of each sort to the nodes of each class: the coarsest equitable partition. It looks at the smaller parts alone
// when a class falls apart, so that it takes little more time than there are links (Cardon and Crochemore, 1982).
type partition struct {
	class   []int   // of each node
	at      []int   // its place in the class
	classes [][]int // the nodes of each
	near    [][]near
	waiting []int  // classes by which others have yet to be split
	waits   []bool // whether a class is among them
}

// near is a neighbour, and the sort of the link to it.
type near struct{ node, sort int }

func newPartition(nodes int) *partition {
	return &partition{class: make([]int, nodes), at: make([]int, nodes), near: make([][]near, nodes)}
}

// put gives a node its first class.
func (p *partition) put(node, class int) {
	for len(p.classes) <= class {
		p.open(nil)
	}
	p.class[node], p.at[node] = class, len(p.classes[class])
	p.classes[class] = append(p.classes[class], node)
}

// join adds a link.
func (p *partition) join(from, to, sort int) { p.near[from] = append(p.near[from], near{to, sort}) }

// open makes a class, by which others will be split.
func (p *partition) open(nodes []int) int {
	class := len(p.classes)
	p.classes = append(p.classes, nil)
	p.waits = append(p.waits, false)
	p.fill(class, nodes)
	p.wait(class)
	return class
}

func (p *partition) wait(class int) {
	if !p.waits[class] {
		p.waits[class] = true
		p.waiting = append(p.waiting, class)
	}
}

// refine splits classes until there is nothing to split by.
func (p *partition) refine() {
	for len(p.waiting) > 0 {
		by := p.waiting[len(p.waiting)-1]
		p.waiting = p.waiting[:len(p.waiting)-1]
		p.waits[by] = false
		counts := map[int]map[int]int{} // by sort: how many links each node has with the class
		for _, node := range p.classes[by] {
			for _, n := range p.near[node] {
				if counts[n.sort] == nil {
					counts[n.sort] = map[int]int{}
				}
				counts[n.sort][n.node]++
			}
		}
		for _, sort := range slices.Sorted(maps.Keys(counts)) {
			p.split(counts[sort])
		}
	}
}

// split takes classes apart whose nodes have different counts.
func (p *partition) split(counts map[int]int) {
	touched := map[int]map[int][]int{} // class → count → nodes
	for _, node := range slices.Sorted(maps.Keys(counts)) {
		class := p.class[node]
		if touched[class] == nil {
			touched[class] = map[int][]int{}
		}
		touched[class][counts[node]] = append(touched[class][counts[node]], node)
	}
	for _, class := range slices.Sorted(maps.Keys(touched)) {
		p.divide(class, touched[class])
	}
}

// divide takes parts out of a class, of which the largest, or what is left if that is larger, stays the class.
func (p *partition) divide(class int, parts map[int][]int) {
	counts := slices.Sorted(maps.Keys(parts))
	if len(counts) == 1 && len(parts[counts[0]]) == len(p.classes[class]) {
		return
	}
	for _, count := range counts {
		for _, node := range parts[count] {
			p.take(class, node)
		}
	}
	largest := counts[0]
	for _, count := range counts {
		if len(parts[count]) > len(parts[largest]) {
			largest = count
		}
	}
	if rest := p.classes[class]; len(rest) < len(parts[largest]) {
		p.fill(class, parts[largest])
		delete(parts, largest)
		if len(rest) > 0 {
			p.open(rest)
		}
	}
	for _, count := range counts {
		if len(parts[count]) > 0 {
			p.open(parts[count])
		}
	}
}

// take removes a node from its class.
func (p *partition) take(class, node int) {
	nodes, at := p.classes[class], p.at[node]
	last := len(nodes) - 1
	nodes[at] = nodes[last]
	p.at[nodes[at]] = at
	p.classes[class] = nodes[:last]
}

// fill makes nodes the class.
func (p *partition) fill(class int, nodes []int) {
	p.classes[class] = nodes
	for at, node := range nodes {
		p.class[node], p.at[node] = class, at
	}
}

// singleOut gives each node of a class of two or more, but fewer than enough, a class of its own, and says whether there
// was any.
func (p *partition) singleOut(enough int) bool {
	changed := false
	for class := range p.classes {
		if nodes := p.classes[class]; len(nodes) > 1 && len(nodes) < enough {
			p.classes[class] = nodes[:1]
			p.wait(class)
			for _, node := range nodes[1:] {
				p.open([]int{node})
			}
			changed = true
		}
	}
	return changed
}

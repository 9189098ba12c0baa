package lineage

import (
	"cmp"
	"slices"
)

// Cycles lists the groups of nodes that descend from themselves through one another: each group sorted, the groups in
// order of their first node. A node whose edge leads to itself is a group of one.
func (s *Subgraph) Cycles() [][]string {
	f := newFinder(s)
	for at := range s.Nodes {
		if f.number[at] == 0 {
			f.visit(at)
		}
	}
	slices.SortFunc(f.groups, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return f.groups
}

// finder finds strongly connected components by Tarjan's algorithm ("Depth-first search and linear graph algorithms",
// 1972), with the calls on a list instead of the stack.
type finder struct {
	sub    *Subgraph
	next   [][]int // places of the nodes one edge down
	self   []bool  // has an edge to itself
	number []int   // order of discovery from 1; 0 = not seen
	low    []int   // smallest number reachable within the tree and one edge back
	open   []int   // seen, component not yet known
	isOpen []bool
	count  int
	groups [][]string
}

func newFinder(s *Subgraph) *finder {
	n := len(s.Nodes)
	f := &finder{sub: s, next: make([][]int, n), self: make([]bool, n), number: make([]int, n), low: make([]int, n), isOpen: make([]bool, n)}
	place := make(map[string]int, n)
	for i, node := range s.Nodes {
		place[node.ID] = i
	}
	for _, e := range s.Edges {
		from, to := place[e.From], place[e.To]
		f.next[from] = append(f.next[from], to)
		f.self[from] = f.self[from] || from == to
	}
	return f
}

// call is one pending visit: the node and how many of its edges were followed.
type call struct{ at, done int }

// visit follows all that is reachable from a node and closes the components it completes.
func (f *finder) visit(start int) {
	calls := []call{{at: start}}
	f.discover(start)
	for len(calls) > 0 {
		c := &calls[len(calls)-1]
		if c.done == len(f.next[c.at]) {
			f.finish(c.at)
			at := c.at
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].at
				f.low[parent] = min(f.low[parent], f.low[at])
			}
			continue
		}
		to := f.next[c.at][c.done]
		c.done++
		switch {
		case f.number[to] == 0:
			f.discover(to)
			calls = append(calls, call{at: to})
		case f.isOpen[to]:
			f.low[c.at] = min(f.low[c.at], f.number[to])
		}
	}
}

func (f *finder) discover(at int) {
	f.count++
	f.number[at], f.low[at] = f.count, f.count
	f.open = append(f.open, at)
	f.isOpen[at] = true
}

// finish takes the component off the open nodes if at is the first discovered of it.
func (f *finder) finish(at int) {
	if f.low[at] != f.number[at] {
		return
	}
	i := len(f.open) - 1
	for f.open[i] != at {
		i--
	}
	group := slices.Clone(f.open[i:])
	f.open = f.open[:i]
	for _, n := range group {
		f.isOpen[n] = false
	}
	if len(group) == 1 && !f.self[at] {
		return
	}
	slices.Sort(group)
	ids := make([]string, len(group))
	for j, n := range group {
		ids[j] = f.sub.Nodes[n].ID
	}
	f.groups = append(f.groups, ids)
}

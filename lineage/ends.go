package lineage

import (
	"maps"
	"slices"
)

// Steps is the least number of edges from the root to each node above it (up) or below it, the root itself 0. What lies
// the other way is not among them.
func (s *Subgraph) Steps(up bool) map[string]int {
	next := map[string][]string{}
	for _, e := range s.Edges {
		near, far := e.From, e.To
		if up {
			near, far = far, near
		}
		next[near] = append(next[near], far)
	}
	steps := map[string]int{s.Root: 0}
	for queue := []string{s.Root}; len(queue) > 0; queue = queue[1:] {
		for _, id := range next[queue[0]] {
			if _, seen := steps[id]; !seen {
				steps[id] = steps[queue[0]] + 1
				queue = append(queue, id)
			}
		}
	}
	return steps
}

// Only is the answer reduced to some of its nodes, given by their sorted ids, and the edges between those.
func (s *Subgraph) Only(ids []string) *Subgraph {
	among := func(id string) bool {
		_, ok := slices.BinarySearch(ids, id)
		return ok
	}
	some := *s
	some.Nodes, some.Edges = nil, nil
	for _, n := range s.Nodes {
		if among(n.ID) {
			some.Nodes = append(some.Nodes, n)
		}
	}
	for _, e := range s.Edges {
		if among(e.From) && among(e.To) {
			some.Edges = append(some.Edges, e)
		}
	}
	return &some
}

// Side is the answer reduced to what lies up or down from the root, with the root.
func (s *Subgraph) Side(up bool) *Subgraph {
	return s.Only(slices.Sorted(maps.Keys(s.Steps(up))))
}

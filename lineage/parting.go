package lineage

import (
	"cmp"
	"slices"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Parting is one place where the ancestries of two nodes part: an ancestor of one of them alone, all of whose own
// ancestors both have. A and B are such ancestors of the first and of the second that go by the same name, "" where
// there is none.
type Parting struct {
	A, B string
}

// Diverging compares the ancestries of two nodes, each the answer to a query that leads up, and finds the first
// ancestors that differ, counted from the beginning: what lies above them both have, so that all further differences may
// come from there. The two nodes themselves are no ancestors. Inputs with equal digests are the same. Of a cycle that one
// side alone has, and that nothing of the like leads to, all nodes are named. The order is by A, then B.
func Diverging(a, b *Subgraph) []Parting {
	x, y := newAncestry(a), newAncestry(b)
	return pair(x, y, x.firstWithout(y), y.firstWithout(x))
}

// ancestry is an answer with what makes its nodes the same as those of another.
type ancestry struct {
	*Subgraph
	nodes map[string]*Node
	same  map[string]bool // identities of all nodes
}

func newAncestry(s *Subgraph) ancestry {
	a := ancestry{Subgraph: s, nodes: map[string]*Node{}, same: map[string]bool{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		a.nodes[n.ID] = n
		a.same[identity(n)] = true
	}
	return a
}

// identity is equal for nodes that are the same thing: inputs by their digest, if one was recorded.
func identity(n *Node) string {
	if d, ok := n.digest(); ok {
		return ContentID(d)
	}
	return n.ID
}

// firstWithout lists the ancestors that other lacks and to which none that it lacks leads, but from within a cycle.
// Sorted.
func (a ancestry) firstWithout(other ancestry) []string {
	var own []string
	for _, n := range a.Nodes {
		if !other.same[identity(&n)] {
			own = append(own, n.ID)
		}
	}
	rest := a.Only(own)
	group := map[string]string{} // of a node on a cycle: the first of it
	for _, cycle := range rest.Cycles() {
		for _, id := range cycle {
			group[id] = cycle[0]
		}
	}
	entered := map[string]bool{}
	for _, e := range rest.Edges {
		from, to := cmp.Or(group[e.From], e.From), cmp.Or(group[e.To], e.To)
		if from != to {
			entered[to] = true
		}
	}
	return slices.DeleteFunc(own, func(id string) bool { return id == a.Root || entered[cmp.Or(group[id], id)] })
}

// pair matches nodes of one side with those of the other that go by the same name, where on each side one does.
func pair(x, y ancestry, first, second []string) []Parting {
	named := map[string]string{}
	for _, id := range second {
		name := placeOf(y.nodes[id])
		if _, twice := named[name]; twice {
			named[name] = ""
			continue
		}
		named[name] = id
	}
	counts := map[string]int{}
	for _, id := range first {
		counts[placeOf(x.nodes[id])]++
	}
	var list []Parting
	matched := map[string]bool{}
	for _, id := range first {
		p := Parting{A: id}
		if name := placeOf(x.nodes[id]); counts[name] == 1 && named[name] != "" {
			p.B = named[name]
			matched[p.B] = true
		}
		list = append(list, p)
	}
	for _, id := range second {
		if !matched[id] {
			list = append(list, Parting{B: id})
		}
	}
	slices.SortFunc(list, func(a, b Parting) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return list
}

// placeOf is what another node that takes the same place would be called too.
func placeOf(n *Node) string {
	switch {
	case n.Kind == KindRun:
		return "run " + withoutEnd(n.Label())
	case n.Name != "":
		return "input " + n.Name
	}
	return "input " + role(tracker.Source{ID: tracker.RunID(n.ID), URI: n.URI})
}

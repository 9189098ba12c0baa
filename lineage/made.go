package lineage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Made says that a run made an input which other runs know by a name of its own, such as a dataset that was staged.
// Links do not tell it, as they lie with those who use.
type Made struct {
	Run      tracker.RunID
	Artifact string // what the input is called among the run's artifacts
	Input    tracker.Source
}

// WithMade returns the graph with an edge from the maker to each input. A maker or input that is not there yet becomes
// a node.
func (g *Graph) WithMade(made []Made) *Graph {
	wider := &Graph{nodes: slices.Clone(g.nodes), warnings: g.warnings}
	for _, m := range made {
		input := Node{ID: string(m.Input.ID), Kind: KindDataset}
		input.describe(m.Input)
		wider.nodes = append(wider.nodes, input, Node{ID: string(m.Run), Kind: KindRun, Missing: true})
	}
	// Stable, so that of two nodes the one that was there stays.
	slices.SortStableFunc(wider.nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	wider.nodes = slices.CompactFunc(wider.nodes, func(a, b Node) bool { return a.ID == b.ID })
	wider.place = make(map[string]int, len(wider.nodes))
	for i, n := range wider.nodes {
		wider.place[n.ID] = i
	}
	for _, a := range g.arcs {
		a.from, a.to = wider.place[g.nodes[a.from].ID], wider.place[g.nodes[a.to].ID]
		wider.arcs = append(wider.arcs, a)
	}
	for _, m := range made {
		wider.arcs = append(wider.arcs, arc{from: wider.place[string(m.Run)], to: wider.place[string(m.Input.ID)], artifact: m.Artifact})
	}
	slices.SortStableFunc(wider.arcs, func(a, b arc) int { return cmp.Or(compareArcs(a, b), -a.time.Compare(b.time)) })
	wider.arcs = slices.CompactFunc(wider.arcs, func(a, b arc) bool { return compareArcs(a, b) == 0 })
	wider.index()
	return wider
}

// Unmade lists the nodes of the answer that are datasets, and of which nothing tells who made them.
func (s *Subgraph) Unmade() []Node {
	entered := map[string]bool{}
	for _, e := range s.Edges {
		entered[e.To] = true
	}
	var list []Node
	for _, n := range s.Nodes {
		if n.Kind == KindDataset && !entered[n.ID] {
			list = append(list, n)
		}
	}
	return list
}

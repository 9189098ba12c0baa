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
	var nodes []Node
	edges := g.edges()
	for _, m := range made {
		input := Node{ID: string(m.Input.ID), Kind: KindDataset}
		if m.Input.Name == "" {
			input.Kind = KindExternal
		}
		input.describe(m.Input)
		nodes = append(nodes, input, Node{ID: string(m.Run), Kind: KindRun, Missing: true})
		edges = append(edges, Edge{From: string(m.Run), To: string(m.Input.ID), Artifact: m.Artifact})
	}
	return g.rebuilt(nodes, edges)
}

// edges lists all edges of the graph.
func (g *Graph) edges() []Edge {
	list := make([]Edge, len(g.arcs))
	for i, a := range g.arcs {
		list[i] = Edge{From: g.nodes[a.from].ID, To: g.nodes[a.to].ID, Artifact: a.artifact, Role: a.role, Time: a.time}
	}
	return list
}

// rebuilt is a graph of more nodes and other edges, whose ends are among the nodes. What is there twice stays as it was
// first: nodes as the graph had them.
func (g *Graph) rebuilt(more []Node, edges []Edge) *Graph {
	wider := &Graph{nodes: append(slices.Clone(g.nodes), more...), contents: g.contents, warnings: g.warnings}
	slices.SortStableFunc(wider.nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	wider.nodes = slices.CompactFunc(wider.nodes, func(a, b Node) bool { return a.ID == b.ID })
	wider.place = make(map[string]int, len(wider.nodes))
	for i, n := range wider.nodes {
		wider.place[n.ID] = i
	}
	for _, e := range edges {
		wider.arcs = append(wider.arcs, arc{wider.place[e.From], wider.place[e.To], e.Artifact, e.Role, e.Time})
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

package lineage

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Graph is every link of a root. It is immutable and safe for concurrent use.
type Graph struct {
	// nodes is sorted by ID, without doubles. No Run is attached and none is an artifact. Elsewhere in Graph a node is
	// its place in this list.
	nodes []Node
	place map[string]int

	// out holds every edge once, sorted by (from, to, artifact). No two agree in all three.
	// in holds the same edges sorted by (to, from, artifact).
	out, in []arc

	// The edges that leave node n are out[outAt[n]:outAt[n+1]]; those that enter it in[inAt[n]:inAt[n+1]].
	outAt, inAt []int

	warnings []tracker.Warning
}

// arc is an Edge between places.
type arc struct {
	from, to int
	link     tracker.Source
}

// New builds the graph of the given runs and edges, in any order and with doubles. Who used something is a run, listed
// or not; a source that is neither listed nor used anything becomes an input or a missing run.
func New(runs []tracker.RunID, edges []tracker.Edge) *Graph {
	g := &Graph{nodes: newNodes(runs, edges)}
	g.place = make(map[string]int, len(g.nodes))
	for i, n := range g.nodes {
		g.place[n.ID] = i
	}
	for _, e := range edges {
		g.out = append(g.out, arc{g.place[string(e.From)], g.place[string(e.To)], e.Source})
	}
	// Of doubles the one that tells more comes first and stays.
	slices.SortFunc(g.out, func(a, b arc) int {
		return cmp.Or(compareArcs(a, b), -cmp.Compare(a.link.Role, b.link.Role), a.link.Time.Compare(b.link.Time))
	})
	g.out = slices.CompactFunc(g.out, func(a, b arc) bool { return compareArcs(a, b) == 0 })
	g.in = slices.SortedFunc(slices.Values(g.out), func(a, b arc) int {
		return cmp.Or(cmp.Compare(a.to, b.to), compareArcs(a, b))
	})
	g.outAt = bounds(g.out, len(g.nodes), func(a arc) int { return a.from })
	g.inAt = bounds(g.in, len(g.nodes), func(a arc) int { return a.to })
	return g
}

// newNodes lists every run and source once, sorted by ID, with kinds.
func newNodes(runs []tracker.RunID, edges []tracker.Edge) []Node {
	nodes := map[string]*Node{}
	for _, id := range runs {
		nodes[string(id)] = &Node{ID: string(id), Kind: KindRun}
	}
	for _, e := range edges {
		nodes[string(e.To)] = &Node{ID: string(e.To), Kind: KindRun}
	}
	roles := map[string]map[tracker.Role]bool{}
	for _, e := range edges {
		id := string(e.From)
		n := nodes[id]
		if n == nil {
			n = &Node{ID: id}
			nodes[id], roles[id] = n, map[tracker.Role]bool{}
		}
		if used := roles[id]; used != nil {
			n.describe(e.Source)
			used[e.Source.Role] = true
		}
	}
	list := make([]Node, 0, len(nodes))
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		if used := roles[id]; used != nil {
			nodes[id].classify(used)
		}
		list = append(list, *nodes[id])
	}
	return list
}

// compareArcs orders by from, to and artifact; as nodes are sorted by ID, this is the order of compareEdges.
func compareArcs(a, b arc) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.link.Artifact, b.link.Artifact))
}

// bounds finds where the arcs of each node begin in a list sorted by end, and, at n, where the last ones stop.
func bounds(arcs []arc, n int, end func(arc) int) []int {
	at := make([]int, n+1)
	for _, a := range arcs {
		at[end(a)+1]++
	}
	for i := range n {
		at[i+1] += at[i]
	}
	return at
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Node returns what the graph knows of id, without records: see Subgraph.Attach for those. For OWNER#ARTIFACT it
// returns an artifact node, whether or not the owner is known to have that artifact. The error has kind ErrNotExist.
func (g *Graph) Node(id string) (Node, error) {
	v, at, err := g.locate(id)
	if err != nil {
		return Node{}, err
	}
	return v.node(at), nil
}

// Warnings lists the records that could not be read when the graph was loaded, and whose links may be lacking.
func (g *Graph) Warnings() []tracker.Warning { return slices.Clone(g.warnings) }

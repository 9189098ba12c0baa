package lineage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Graph is every link of a root. It is immutable and safe for concurrent use.
type Graph struct {
	// nodes is sorted by ID, without doubles. No Run is attached and none is an artifact. Elsewhere in Graph a node is
	// its place in this list.
	nodes []Node
	place map[string]int

	// arcs holds every edge once, sorted by (from, to, artifact). No two agree in all three.
	// in lists places in arcs, sorted by (to, from, artifact).
	arcs []arc
	in   []int

	// The edges that leave node n are arcs[outAt[n]:outAt[n+1]]; those that enter it in[inAt[n]:inAt[n+1]].
	outAt, inAt []int

	// contents are those of artifacts, where the graph was told of them.
	contents []Content

	warnings []tracker.Warning
}

// arc is an Edge between places.
type arc struct {
	from, to int
	artifact string
	role     tracker.Role
	time     time.Time
}

// New builds the graph of the given runs and edges, in any order and with doubles. Who used something is a run, listed
// or not; a source that is neither listed nor used anything becomes an input or a missing run.
func New(runs []tracker.RunID, edges []tracker.Edge) *Graph {
	g := &Graph{nodes: newNodes(runs, edges)}
	g.place = make(map[string]int, len(g.nodes))
	for i, n := range g.nodes {
		g.place[n.ID] = i
	}
	g.arcs = newArcs(edges, g.place)
	g.index()
	return g
}

// index fills in what follows from nodes and arcs.
func (g *Graph) index() {
	g.in = make([]int, len(g.arcs))
	for i := range g.arcs {
		g.in[i] = i
	}
	// Stable, so that edges to the same node stay in the order of arcs.
	slices.SortStableFunc(g.in, func(a, b int) int { return cmp.Compare(g.arcs[a].to, g.arcs[b].to) })
	g.outAt, g.inAt = make([]int, len(g.nodes)+1), make([]int, len(g.nodes)+1)
	for _, a := range g.arcs {
		g.outAt[a.from+1]++
		g.inAt[a.to+1]++
	}
	for n := range g.nodes {
		g.outAt[n+1] += g.outAt[n]
		g.inAt[n+1] += g.inAt[n]
	}
}

// newArcs sorts the edges and drops doubles; of those the one that tells more stays.
func newArcs(edges []tracker.Edge, place map[string]int) []arc {
	arcs := make([]arc, len(edges))
	for i, e := range edges {
		arcs[i] = arc{place[string(e.From)], place[string(e.To)], e.Source.Artifact, e.Source.Role, e.Source.Time}
	}
	slices.SortFunc(arcs, func(a, b arc) int {
		return cmp.Or(compareArcs(a, b), -cmp.Compare(a.role, b.role), -a.time.Compare(b.time))
	})
	return slices.CompactFunc(arcs, func(a, b arc) bool { return compareArcs(a, b) == 0 })
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
	if a.from != b.from {
		return cmp.Compare(a.from, b.from)
	}
	if a.to != b.to {
		return cmp.Compare(a.to, b.to)
	}
	return cmp.Compare(a.artifact, b.artifact)
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

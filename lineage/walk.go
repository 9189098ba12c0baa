package lineage

import (
	"errors"
	"iter"
	"slices"
)

// noNode is a place that no node has.
const noNode = -1

// view is the graph as a question sees it: with one artifact drawn as a node of its own if the question is about one,
// and with the edges of one artifact name only if it asks for that.
//
// The artifact node stands between its owner and those who used it: owner → artifact → user. Uses of the owner that
// name no artifact, or another, go past it.
type view struct {
	g        *Graph
	owner    int    // whose artifact is drawn as a node, or noNode
	artifact string // its name
	only     string // follow no edge of another artifact name; "" = follow all
}

// artifactNode is the place of the artifact node: the one after the graph's own.
func (v view) artifactNode() int { return len(v.g.nodes) }

// locate finds a node by its full id. OWNER#ARTIFACT is read as an artifact unless a node has that very id.
func (g *Graph) locate(id string) (view, int, error) {
	if at, ok := g.place[id]; ok {
		return view{g: g, owner: noNode}, at, nil
	}
	for owner, artifact := range splitArtifact(id) {
		if at, ok := g.place[owner]; ok {
			v := view{g: g, owner: at, artifact: artifact}
			return v, v.artifactNode(), nil
		}
	}
	return view{}, 0, notFound(id, errors.New("it is no node of this lineage"))
}

// node is the node at a place.
func (v view) node(at int) Node {
	if at < len(v.g.nodes) {
		return v.g.nodes[at]
	}
	owner := v.g.nodes[v.owner].ID
	return Node{ID: artifactID(owner, v.artifact), Kind: KindArtifact, Owner: owner, Artifact: v.artifact}
}

// id is the id of the node at a place.
func (v view) id(at int) string {
	if at < len(v.g.nodes) {
		return v.g.nodes[at].ID
	}
	return v.node(at).ID
}

// leaving yields the edges from a node, in no promised order.
func (v view) leaving(at int) iter.Seq[arc] {
	return func(yield func(arc) bool) {
		if at == v.owner && !yield(v.made()) {
			return
		}
		stored := at
		if at == v.artifactNode() {
			stored = v.owner
		}
		for _, a := range v.g.arcs[v.g.outAt[stored]:v.g.outAt[stored+1]] {
			if a = v.redraw(a); a.from == at && v.follows(a) && !yield(a) {
				return
			}
		}
	}
}

// entering yields the edges to a node, in no promised order.
func (v view) entering(at int) iter.Seq[arc] {
	return func(yield func(arc) bool) {
		if at == v.artifactNode() {
			yield(v.made())
			return
		}
		for _, i := range v.g.in[v.g.inAt[at]:v.g.inAt[at+1]] {
			if a := v.redraw(v.g.arcs[i]); v.follows(a) && !yield(a) {
				return
			}
		}
	}
}

// made is the edge from the owner to the artifact node. It is followed whatever the view asks for.
func (v view) made() arc {
	return arc{from: v.owner, to: v.artifactNode(), artifact: v.artifact}
}

// redraw lets a use of the artifact start at the artifact node.
func (v view) redraw(a arc) arc {
	if v.owner != noNode && a.from == v.owner && a.artifact == v.artifact {
		a.from = v.artifactNode()
	}
	return a
}

func (v view) follows(a arc) bool { return v.only == "" || a.artifact == v.only }

// edge is an arc with ids.
func (v view) edge(a arc) Edge {
	return Edge{From: v.id(a.from), To: v.id(a.to), Artifact: a.artifact, Role: a.role, Time: a.time}
}

// edges collects arcs as edges, sorted by From, To, Artifact.
func (v view) edges(arcs iter.Seq[arc]) []Edge {
	var list []Edge
	for a := range arcs {
		list = append(list, v.edge(a))
	}
	slices.SortFunc(list, compareEdges)
	return list
}

// reach finds every node up or down from start and its distance, start at 0, by breadth so that long chains need no
// stack. depth <= 0 means no limit.
func (v view) reach(start, depth int, up bool) map[int]int {
	found := map[int]int{start: 0}
	queue := []int{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if depth > 0 && found[at] == depth {
			break
		}
		for next := range v.neighbours(at, up) {
			if _, seen := found[next]; !seen {
				found[next] = found[at] + 1
				queue = append(queue, next)
			}
		}
	}
	return found
}

// neighbours yields the nodes one edge up or down from a node, some more than once.
func (v view) neighbours(at int, up bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		if up {
			for a := range v.entering(at) {
				if !yield(a.from) {
					return
				}
			}
			return
		}
		for a := range v.leaving(at) {
			if !yield(a.to) {
				return
			}
		}
	}
}

// Parents returns the edges that enter a node, sorted by From and Artifact: what it was made from. For OWNER#ARTIFACT
// that is its owner alone. An unknown id has none.
func (g *Graph) Parents(id string) []Edge {
	v, at, err := g.locate(id)
	if err != nil {
		return nil
	}
	return v.edges(v.entering(at))
}

// Children returns the edges that leave a node, sorted by To and Artifact: who used it. For OWNER#ARTIFACT those are
// the uses of that artifact. An unknown id has none.
func (g *Graph) Children(id string) []Edge {
	v, at, err := g.locate(id)
	if err != nil {
		return nil
	}
	return v.edges(v.leaving(at))
}

// Ancestors returns all that a node descends from within depth edges, nearest first, then by id. depth <= 0 means all.
// The node itself is not among them, also where it lies on a cycle. An unknown id has none.
func (g *Graph) Ancestors(id string, depth int) []Hop { return g.hops(id, depth, true) }

// Descendants returns all that descends from a node within depth edges; otherwise as Ancestors.
func (g *Graph) Descendants(id string, depth int) []Hop { return g.hops(id, depth, false) }

func (g *Graph) hops(id string, depth int, up bool) []Hop {
	v, start, err := g.locate(id)
	if err != nil {
		return nil
	}
	var list []Hop
	for at, d := range v.reach(start, depth, up) {
		if at != start {
			list = append(list, Hop{ID: v.id(at), Depth: d})
		}
	}
	slices.SortFunc(list, compareHops)
	return list
}

// splitArtifact yields each way to read text as OWNER#ARTIFACT with both parts present.
func splitArtifact(text string) iter.Seq2[string, string] {
	return func(yield func(owner, artifact string) bool) {
		for i := range len(text) {
			if text[i] == '#' && i > 0 && i < len(text)-1 && !yield(text[:i], text[i+1:]) {
				return
			}
		}
	}
}

// artifactID joins what splitArtifact took apart.
func artifactID(owner, artifact string) string { return owner + "#" + artifact }

package lineage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Query says how far a closure goes. The zero value means everything, both ways.
type Query struct {
	Up, Down bool   // neither = both
	Depth    int    // edges from the root, <= 0 = no limit
	Artifact string // follow only edges of this artifact name; "" = all
}

// normal writes the defaults out.
func (q Query) normal() Query {
	if !q.Up && !q.Down {
		q.Up, q.Down = true, true
	}
	q.Depth = max(q.Depth, 0)
	return q
}

// Subgraph is the part of a graph that answers a Query.
type Subgraph struct {
	Root  string // id of the node that was asked about
	Query Query  // as answered: Up, Down or both are set
	Nodes []Node // sorted by ID; the root is one of them
	// Edges are all the graph's edges between two of Nodes that pass Query.Artifact, sorted by From, To, Artifact: also
	// those that no shortest way from the root takes.
	Edges []Edge
	// Warnings say what may be lacking: records that could not be read, uses that name no artifact.
	Warnings []tracker.Warning

	rootUsed bool // the root is an artifact that some run of the graph says it used
}

// Closure returns the root with its ancestors (Up), its descendants (Down) or both, within Depth edges.
//
// Of a root OWNER#ARTIFACT the artifact is a node: its one parent is the owner, its children are those who used just
// that artifact. What used the owner otherwise is not followed.
// An unknown root is an error of kind ErrNotExist.
func (g *Graph) Closure(id string, q Query) (*Subgraph, error) {
	v, root, err := g.locate(id)
	if err != nil {
		return nil, err
	}
	q = q.normal()
	v.only = q.Artifact
	found := map[int]bool{root: true}
	for _, way := range []struct{ asked, up bool }{{q.Up, true}, {q.Down, false}} {
		if way.asked {
			for at := range v.reach(root, q.Depth, way.up) {
				found[at] = true
			}
		}
	}
	sub := v.between(found)
	sub.Root, sub.Query = v.id(root), q
	sub.rootUsed = root == v.artifactNode() && len(v.edges(v.leaving(root))) > 0
	sub.Warnings = append(g.Warnings(), v.unnamed(q)...)
	return sub, nil
}

// between takes the given nodes and every followed edge between two of them.
func (v view) between(found map[int]bool) *Subgraph {
	sub := &Subgraph{}
	for at := range found {
		sub.Nodes = append(sub.Nodes, v.node(at))
		for a := range v.leaving(at) {
			if found[a.to] {
				sub.Edges = append(sub.Edges, v.edge(a))
			}
		}
	}
	slices.SortFunc(sub.Nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(sub.Edges, compareEdges)
	return sub
}

// unnamed warns of runs that used an artifact's owner without saying which artifact: they may have used this one.
func (v view) unnamed(q Query) []tracker.Warning {
	if v.owner == noNode || !q.Down {
		return nil
	}
	n := 0
	for a := range v.leaving(v.owner) {
		if a.artifact == "" && a.role != tracker.RoleParent && a.role != tracker.RoleRerun {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	owner := tracker.RunID(v.id(v.owner))
	reason := fmt.Sprintf("%d uses of %s name no artifact and are not followed from %s", n, owner.Name(), v.artifact)
	return []tracker.Warning{{Key: store.Key(owner.Encode()), Reason: reason}}
}

// Node finds a node by its full id. The error has kind ErrNotExist.
func (s *Subgraph) Node(id string) (*Node, error) {
	i, ok := slices.BinarySearchFunc(s.Nodes, id, func(n Node, id string) int { return strings.Compare(n.ID, id) })
	if !ok {
		return nil, notFound(id, errors.New("it is no node of this answer"))
	}
	return &s.Nodes[i], nil
}

// Roots lists the nodes that no edge of the subgraph enters, sorted. A cycle has none.
func (s *Subgraph) Roots() []string { return s.without(func(e Edge) string { return e.To }) }

// Leaves lists the nodes that no edge of the subgraph leaves, sorted. A cycle has none.
func (s *Subgraph) Leaves() []string { return s.without(func(e Edge) string { return e.From }) }

// without lists the nodes that are not this end of any edge.
func (s *Subgraph) without(end func(Edge) string) []string {
	has := map[string]bool{}
	for _, e := range s.Edges {
		has[end(e)] = true
	}
	var list []string
	for _, n := range s.Nodes {
		if !has[n.ID] {
			list = append(list, n.ID)
		}
	}
	return list
}

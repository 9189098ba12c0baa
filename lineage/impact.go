package lineage

import (
	"cmp"
	"slices"

	"github.com/heirloom-ml/heirloom/lineage/filter"
)

// Impact is what came of a node, and would change with it.
type Impact struct {
	Root string
	// Affected are the runs below the root that pass the filter, the nearest first, then by id.
	Affected []Affected
	// Below is how many runs lie below the root, affected or not. Inputs is how many inputs that some of them made do.
	Below, Inputs int
	// Matched is how many of Affected the gate caught.
	Matched int
}

// Affected is one run below the root of an Impact.
type Affected struct {
	*Node
	Depth int      // edges from the root on the shortest way
	Via   []string // ids of the nodes above it from which a shortest way leads to it, sorted
	Gate  bool     // the gate's filter holds of it
}

// Impact judges the answer to a query that leads down, after Attach. Of a nil filter all runs pass; a nil gate catches
// none. A run without records passes no filter.
func (s *Subgraph) Impact(where, gate filter.Expr) *Impact {
	impact := &Impact{Root: s.Root}
	steps := s.Steps(false)
	via := map[string][]string{}
	for _, e := range s.Edges {
		if from, ok := steps[e.From]; ok && from+1 == steps[e.To] && !slices.Contains(via[e.To], e.From) {
			via[e.To] = append(via[e.To], e.From)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		depth, below := steps[n.ID]
		switch {
		case !below || n.ID == s.Root:
			continue
		case n.Kind != KindRun:
			impact.Inputs++
			continue
		}
		impact.Below++
		if where != nil && !n.matches(where) {
			continue
		}
		a := Affected{Node: n, Depth: depth, Via: via[n.ID], Gate: gate != nil && n.matches(gate)}
		if a.Gate {
			impact.Matched++
		}
		impact.Affected = append(impact.Affected, a)
	}
	slices.SortFunc(impact.Affected, func(a, b Affected) int { return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.ID, b.ID)) })
	return impact
}

func (n *Node) matches(e filter.Expr) bool { return n.Run != nil && e.Match(filter.Run{Run: n.Run}) }

package render

import (
	"cmp"
	"slices"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Ends is a list of nodes that lie a number of steps from where one started, the nearest first.
func Ends(sub *lineage.Subgraph, steps map[string]int) List {
	p := newPicture(sub)
	machine := []Format{JSON, JSONL, CSV}
	l := List{Key: "nodes", Columns: []Column{
		{Name: "node", In: []Format{Table}}, {Name: "id", In: machine}, {Name: "kind"},
		{Name: "state", In: []Format{Table}}, {Name: "state", In: machine}, {Name: "missing", In: machine},
		{Name: "depth", Right: true}, {Name: "started"},
	}}
	ids := make([]string, len(sub.Nodes))
	for i, n := range sub.Nodes {
		ids[i] = n.ID
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(steps[a], steps[b]), cmp.Compare(a, b)) })
	for _, id := range ids {
		n := p.nodes[id]
		var known, told any
		if n.Kind == lineage.KindRun && n.Run != nil {
			known = n.Run.State
		}
		if n.Kind == lineage.KindRun {
			told = tracker.State(state(n)) // also that it is missing or deleted
		}
		l.Rows = append(l.Rows, []any{p.labels[id], id, string(n.Kind), told, known, n.Missing, steps[id], started(n)})
	}
	return l
}

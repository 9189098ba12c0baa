package lineage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heirloom-ml/heirloom/lineage"
)

// reference answers a closure slowly and plainly: it draws the artifact into the list of edges as lines of text, then
// walks edge by edge, one depth at a time, over the whole list.
func reference(lines []string, root string, q lineage.Query) (nodes, edges []string) {
	owner, artifact, split := strings.Cut(root, "#")
	type link struct{ from, to, artifact string }
	list := map[link]bool{}
	for _, line := range lines {
		e := edge(line)
		l := link{string(e.From), string(e.To), e.Source.Artifact}
		if split && l.from == owner && l.artifact == artifact {
			l.from = root
		}
		if q.Artifact == "" || q.Artifact == l.artifact {
			list[l] = true
		}
	}
	if split {
		list[link{owner, root, artifact}] = true
	}
	found := map[string]bool{root: true}
	for _, up := range []bool{true, false} {
		if !q.Up && up || !q.Down && !up {
			continue
		}
		layer := map[string]bool{root: true}
		for range q.Depth {
			next := map[string]bool{}
			for l := range list {
				if up && layer[l.to] {
					next[l.from] = true
				}
				if !up && layer[l.from] {
					next[l.to] = true
				}
			}
			for id := range next {
				found[id] = true
			}
			layer = next
		}
	}
	for id := range found {
		nodes = append(nodes, id)
	}
	for l := range list {
		if found[l.from] && found[l.to] {
			edges = append(edges, fmt.Sprintf("%s>%s>%s", l.from, l.to, l.artifact))
		}
	}
	slices.Sort(nodes)
	slices.Sort(edges)
	return nodes, edges
}

func TestClosureAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 9
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}[:size])
		artifact := rapid.SampledFrom([]string{"", "", "m", "n"})
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return name.Draw(t, "from") + ">" + name.Draw(t, "to") + ":" + artifact.Draw(t, "artifact")
		}), 1, 25).Draw(t, "edges")
		root := lines[0][:1]
		if rapid.Bool().Draw(t, "ask about an artifact") {
			root += "#m"
		}
		q := lineage.Query{Up: rapid.Bool().Draw(t, "up"), Depth: rapid.IntRange(1, size+2).Draw(t, "depth")}
		q.Down = !q.Up || rapid.Bool().Draw(t, "down")
		q.Artifact = rapid.SampledFrom([]string{"", "", "m"}).Draw(t, "only")

		sub, err := graph(lines...).Closure(root, q)
		if err != nil {
			t.Fatal(err)
		}
		var edges []string
		for _, e := range sub.Edges {
			edges = append(edges, e.From+">"+e.To+">"+e.Artifact)
		}
		slices.Sort(edges)
		wantNodes, wantEdges := reference(lines, root, q)
		if !slices.Equal(ids(sub.Nodes), wantNodes) || !slices.Equal(edges, wantEdges) {
			t.Fatalf("closure of %s:\n%q\n%q\nwant\n%q\n%q", root, ids(sub.Nodes), edges, wantNodes, wantEdges)
		}
		checkOrder(t, sub)
	})
}

// checkOrder asserts the documented order of a subgraph and that every hop has a shortest way in it.
func checkOrder(t *rapid.T, sub *lineage.Subgraph) {
	if !slices.IsSorted(ids(sub.Nodes)) {
		t.Fatalf("nodes are not sorted: %q", ids(sub.Nodes))
	}
	if !slices.IsSortedFunc(sub.Edges, func(a, b lineage.Edge) int {
		return slices.Compare([]string{a.From, a.To, a.Artifact}, []string{b.From, b.To, b.Artifact})
	}) {
		t.Fatalf("edges are not sorted: %q", write(sub.Edges))
	}
}

package lineage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
)

// closure fails the test on error.
func closure(t *testing.T, g *lineage.Graph, root string, q lineage.Query) *lineage.Subgraph {
	t.Helper()
	sub, err := g.Closure(root, q)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestRootsAndLeaves(t *testing.T) {
	sub := closure(t, pipeline(), "tune", lineage.Query{})
	equal(t, "roots", sub.Roots(), []string{"digits@1"})
	equal(t, "leaves", sub.Leaves(), []string{"eval", "other"})
	ring := closure(t, graph("a>b", "b>a"), "a", lineage.Query{})
	equal(t, "roots of a cycle", ring.Roots(), nil)
	equal(t, "leaves of a cycle", ring.Leaves(), nil)
}

func TestCycles(t *testing.T) {
	tests := []struct {
		name, edges, want string
	}{
		{"none", "a>b b>c a>c", "[]"},
		{"to itself", "a>b b>b", "[[b]]"},
		{"two groups", "a>b b>c c>b c>d d>e e>d a>z", "[[b c] [d e]]"},
		{"one group of two rings", "a>b b>a b>c c>b", "[[a b c]]"},
		{"by a side way", "r>x r>y x>y y>x", "[[x y]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			edges := strings.Fields(tt.edges)
			sub := closure(t, graph(edges...), edges[0][:1], lineage.Query{})
			if got := fmt.Sprint(sub.Cycles()); got != tt.want {
				t.Errorf("cycles %s, want %s", got, tt.want)
			}
		})
	}
}

// chain links n runs in a row.
func chain(n int) []string {
	var lines []string
	for i := range n - 1 {
		lines = append(lines, fmt.Sprintf("run%06d>run%06d:model", i, i+1))
	}
	return lines
}

func TestLongChain(t *testing.T) {
	const n = 100_000
	g := graph(chain(n)...)
	if hops := g.Ancestors("run099999", 0); len(hops) != n-1 || hops[n-2].Depth != n-1 {
		t.Errorf("%d ancestors, want %d", len(hops), n-1)
	}
	sub := closure(t, g, "run050000", lineage.Query{})
	if len(sub.Nodes) != n || len(sub.Edges) != n-1 || len(sub.Cycles()) != 0 {
		t.Errorf("%d nodes, %d edges, %d cycles", len(sub.Nodes), len(sub.Edges), len(sub.Cycles()))
	}
}

func TestCycleOfAThousand(t *testing.T) {
	g := graph(append(chain(1000), "run000999>run000000:model")...)
	if hops := g.Descendants("run000500", 0); len(hops) != 999 || slices.ContainsFunc(hops, func(h lineage.Hop) bool { return h.ID == "run000500" }) {
		t.Errorf("%d descendants, want the other 999", len(hops))
	}
	sub := closure(t, g, "run000500#model", lineage.Query{Down: true})
	if groups := sub.Cycles(); len(sub.Nodes) != 1001 || len(groups) != 1 || len(groups[0]) != 1001 {
		t.Errorf("%d nodes; want the thousand and the artifact in one cycle", len(sub.Nodes))
	}
}

package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

func drawTree(t *testing.T, sub *lineage.Subgraph) string {
	t.Helper()
	var out bytes.Buffer
	if err := render.Lineage(&out, sub, render.Tree, render.Style{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// chain links n runs in a row; a ring also the last to the first.
func chain(n int, ring bool) *lineage.Graph {
	var edges []tracker.Edge
	for i := range n - 1 {
		edges = append(edges, link(fmt.Sprintf("run%06d", i), fmt.Sprintf("run%06d", i+1), "m", ""))
	}
	if ring {
		edges = append(edges, link(fmt.Sprintf("run%06d", n-1), "run000000", "m", ""))
	}
	return lineage.New(nil, edges)
}

func TestTreeOfALongChain(t *testing.T) {
	const n = 100_000
	text := drawTree(t, closure(t, chain(n, false), "run000000", lineage.Query{Down: true}))
	widest := 0
	for line := range strings.SplitSeq(text, "\n") {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	if widest > 120 {
		t.Errorf("a line has %d letters", widest)
	}
	for _, id := range []string{"run000001", "run050000", "run099999"} {
		if !strings.Contains(text, "→ "+id) {
			t.Errorf("%s is not in the tree", id)
		}
	}
	if strings.Count(text, "continued at [7]") != 1 || strings.Count(text, "  [7]\n") != 1 {
		t.Error("a continued part does not have exactly one place")
	}
}

func TestTreeOfARing(t *testing.T) {
	text := drawTree(t, closure(t, chain(1000, true), "run000500", lineage.Query{Up: true}))
	if !strings.HasPrefix(text, "run000500  [1]\n") || strings.Count(text, "see [1], a cycle") != 1 {
		t.Errorf("the ring is not closed at its root:\n%.300s", text)
	}
}

// Every repeated subtree doubles the paths: drawn out at each place this tree would have 2^60 lines.
func TestTreeFoldsRepeatedSubtrees(t *testing.T) {
	var edges []tracker.Edge
	for i := range 60 {
		for _, side := range []string{"a", "b"} {
			edges = append(edges,
				link(fmt.Sprintf("top%02d", i), fmt.Sprintf("%s%02d", side, i), "m", ""),
				link(fmt.Sprintf("%s%02d", side, i), fmt.Sprintf("top%02d", i+1), "m", ""))
		}
	}
	text := drawTree(t, closure(t, lineage.New(nil, edges), "top00", lineage.Query{Down: true}))
	if lines := strings.Count(text, "\n"); lines > 4*60+20 {
		t.Errorf("%d lines for %d links", lines, len(edges))
	}
}

func TestTreeTellsOfUndrawnLinks(t *testing.T) {
	text := drawTree(t, closure(t, pipeline(), train1, lineage.Query{}))
	if !strings.Contains(text, "not drawn: 2") {
		t.Errorf("no word of the two links from prepare past the root:\n%s", text)
	}
}

func TestLabelsAreUnique(t *testing.T) {
	g := lineage.New([]tracker.RunID{"a://x/same", "b://x/same"}, []tracker.Edge{link("a://x/same", "b://x/same", "m", "")})
	if text := drawTree(t, closure(t, g, "b://x/same", lineage.Query{Up: true})); !strings.Contains(text, "m ← a://x/same") {
		t.Errorf("two nodes look the same:\n%s", text)
	}
}

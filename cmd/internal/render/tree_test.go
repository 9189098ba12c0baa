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
	if !strings.HasPrefix(text, "run000500  [1]\n") || strings.Count(text, "a cycle, as above [1]") != 1 {
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

func TestTreeJoinsWhatIsAlike(t *testing.T) {
	sub := closure(t, sweeps(13), prepare, lineage.Query{Down: true})
	for i := range sub.Nodes {
		n := &sub.Nodes[i]
		if strings.Contains(n.ID, "trial-") {
			n.Run = run(n.ID, []string{"SUCCEEDED", "FAILED"}[i%6/5], 3, meta())
		}
	}
	text := drawTree(t, sub)
	for _, want := range []string{
		"─ train.parquet → 12 runs like trial-…  10 SUCCEEDED, 2 FAILED\n",
		"train.parquet → trial-00000  SUCCEEDED\n", "model.gob → evaluate-g6h7j8  SUCCEEDED", "12 nodes that are alike share 1 row; --all draws each\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the tree:\n%s", want, text)
		}
	}
	var all bytes.Buffer
	if err := render.Lineage(&all, sub, render.Tree, render.Style{All: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(all.String(), "→ trial-"); n != 13 {
		t.Errorf("%d trials are drawn, want all 13:\n%s", n, all.String())
	}
}

// Runs alike up to what came of them are one row, and what came of them one below it.
func TestTreeJoinsSubtrees(t *testing.T) {
	var edges []tracker.Edge
	for i := range 300 {
		train, eval := fmt.Sprintf("local://torchx/train-%03dx", i), fmt.Sprintf("local://torchx/eval-%03dy", i)
		edges = append(edges, link("data@1", train, "", tracker.RoleInput), link(train, eval, "model", ""), link("data@1", eval, "", tracker.RoleInput),
			link(train, "local://torchx/choose-1", "model", ""))
	}
	text := drawTree(t, closure(t, lineage.New(nil, edges), "data@1", lineage.Query{Down: true}))
	if lines := strings.Count(text, "\n"); lines > 8 {
		t.Errorf("%d lines for 600 runs:\n%s", lines, text)
	}
	for _, want := range []string{"→ 300 runs like train-…", "→ 300 runs like eval-…", "model → choose-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the tree:\n%s", want, text)
		}
	}
}

func TestTreeFitsTheScreen(t *testing.T) {
	sub := closure(t, pipeline(), eval, lineage.Query{Up: true})
	for _, columns := range []int{52, 60, 80, 200} {
		var out bytes.Buffer
		if err := render.Lineage(&out, sub, render.Tree, render.Style{Width: columns}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "links") {
				continue // a sentence
			}
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns: a line has %d: %s", columns, n, line)
			}
		}
	}
}

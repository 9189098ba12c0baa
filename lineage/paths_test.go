package lineage_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
)

// simpleWays lists every way from one node to another that meets none twice, by trying all.
func simpleWays(lines []string, from, to, only string) [][]string {
	if from == to {
		return [][]string{{from}}
	}
	next := map[string]map[string]bool{}
	for _, line := range lines {
		e := edge(line)
		if only != "" && only != e.Source.Artifact {
			continue
		}
		if next[string(e.From)] == nil {
			next[string(e.From)] = map[string]bool{}
		}
		next[string(e.From)][string(e.To)] = true
	}
	var ways [][]string
	var walk func(way []string)
	walk = func(way []string) {
		for to2 := range next[way[len(way)-1]] {
			switch {
			case to2 == to:
				ways = append(ways, append(slices.Clone(way), to2))
			case !slices.Contains(way, to2):
				walk(append(slices.Clone(way), to2))
			}
		}
	}
	walk([]string{from})
	slices.SortFunc(ways, func(a, b []string) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) })
	return ways
}

func TestPathsAgreeWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"})
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return name.Draw(t, "from") + ">" + name.Draw(t, "to") + ":" + rapid.SampledFrom([]string{"", "m"}).Draw(t, "artifact")
		}), 1, 16).Draw(t, "edges")
		from, to := lines[0][:1], lines[len(lines)-1][2:3]
		q := lineage.PathQuery{Every: rapid.Bool().Draw(t, "every"), Limit: rapid.IntRange(1, 40).Draw(t, "limit"), Depth: rapid.IntRange(0, 5).Draw(t, "depth")}
		q.Artifact = rapid.SampledFrom([]string{"", "", "m"}).Draw(t, "only")

		want := simpleWays(lines, from, to, q.Artifact)
		shortest := 0
		want = slices.DeleteFunc(want, func(way []string) bool { return q.Depth > 0 && len(way)-1 > q.Depth })
		for _, way := range want {
			if len(way) == len(want[0]) {
				shortest++
			}
		}
		if !q.Every {
			want = want[:shortest]
		}
		more := len(want) > q.Limit
		want = want[:min(len(want), q.Limit)]

		got, err := graph(lines...).Paths(from, to, q)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Ways) != fmt.Sprint(want) || got.More != more || got.Stopped || got.Shortest.Int64() != int64(shortest) {
			t.Fatalf("%q from %s to %s, %+v:\n%v, more %t, %s shortest; want\n%v, %t, %d", lines, from, to, q, got.Ways, got.More, got.Shortest, want, more, shortest)
		}
		checkDrawn(t, got)
	})
}

// checkDrawn asserts that all nodes and steps of the ways are in the subgraph.
func checkDrawn(t *rapid.T, p *lineage.Paths) {
	for _, way := range p.Ways {
		for i, id := range way {
			if _, err := p.Sub.Node(id); err != nil {
				t.Fatalf("%s is not drawn", id)
			}
			if i > 0 && !slices.ContainsFunc(p.Sub.Edges, func(e lineage.Edge) bool { return e.From == way[i-1] && e.To == id }) {
				t.Fatalf("the step from %s to %s is not drawn: %q", way[i-1], id, write(p.Sub.Edges))
			}
		}
	}
	if !slices.IsSorted(ids(p.Sub.Nodes)) {
		t.Fatalf("nodes are not sorted: %q", ids(p.Sub.Nodes))
	}
}

func TestPathsOfArtifacts(t *testing.T) {
	tests := []struct{ from, to, want, edges string }{
		{"train1#checkpoint", "eval", "[[train1#checkpoint tune eval]]", "train1#checkpoint>tune:checkpoint tune>eval:model"},
		{"digits@1", "tune#model", "[[digits@1 prepare tune tune#model]]", "digits@1>prepare prepare>tune:train tune>tune#model:model"},
		{"tune", "tune#model", "[[tune tune#model]]", "tune>tune#model:model"},
		{"tune#model", "tune#model", "[[tune#model]]", ""},
		{"tune#log", "eval", "[]", ""},
	}
	for _, tt := range tests {
		got, err := pipeline().Paths(tt.from, tt.to, lineage.PathQuery{})
		if err != nil || fmt.Sprint(got.Ways) != tt.want {
			t.Errorf("%s to %s: %v, %v; want %s", tt.from, tt.to, got, err, tt.want)
			continue
		}
		equal(t, tt.from+" to "+tt.to, write(got.Sub.Edges), strings.Fields(tt.edges))
	}
	for _, ends := range [][2]string{{"nobody", "eval"}, {"eval", "nobody"}} {
		if _, err := pipeline().Paths(ends[0], ends[1], lineage.PathQuery{}); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("%v: %v, want kind ErrNotExist", ends, err)
		}
	}
}

// Where ways are without number, the shortest are counted, a few are listed, and the search for others ends.
func TestVeryManyWays(t *testing.T) {
	var lines []string
	for i := range 100 { // each of two nodes is followed by each of the next two, and they lead back
		for _, from := range "ab" {
			for _, to := range "ab" {
				lines = append(lines, fmt.Sprintf("%c%03d>%c%03d", from, i, to, i+1), fmt.Sprintf("%c%03d>%c%03d", to, i+1, from, i))
			}
		}
	}
	for _, every := range []bool{false, true} {
		got, err := graph(lines...).Paths("a000", "a100", lineage.PathQuery{Every: every, Limit: 7})
		if err != nil || len(got.Ways) != 7 || !got.More && !got.Stopped || got.Bound() == "" {
			t.Errorf("%d ways, %v", len(got.Ways), err)
		}
		if want := "633825300114114700748351602688"; got.Shortest.String() != want { // 2^99
			t.Errorf("%s shortest ways, want %s", got.Shortest, want)
		}
	}
	// No way but the shortest leads there, and the search for one has no end: it is given up, and says so.
	maze := append(slices.Clone(lines), "a000>z")
	got, err := graph(maze...).Paths("a000", "z", lineage.PathQuery{Every: true})
	if err != nil || len(got.Ways) != 1 || got.More {
		t.Errorf("%v, %v", got.Ways, err)
	}
}

func TestLongWay(t *testing.T) {
	const n = 20_000
	got, err := graph(chain(n)...).Paths("run000000", fmt.Sprintf("run%06d", n-1), lineage.PathQuery{Every: true})
	if err != nil || len(got.Ways) != 1 || len(got.Ways[0]) != n || got.More {
		t.Errorf("%d ways, %v", len(got.Ways), err)
	}
	ring := append(chain(1000), "run000999>run000000")
	got, err = graph(ring...).Paths("run000500", "run000499", lineage.PathQuery{Every: true})
	if err != nil || len(got.Ways) != 1 || len(got.Ways[0]) != 1000 {
		t.Errorf("around a ring of a thousand: %d ways, %v", len(got.Ways), err)
	}
}

func TestSteps(t *testing.T) {
	sub := closure(t, pipeline(), "tune", lineage.Query{})
	if got := fmt.Sprint(sub.Steps(true)); got != "map[digits@1:2 prepare:1 train1:1 tune:0]" {
		t.Errorf("up: %s", got)
	}
	if got := fmt.Sprint(sub.Steps(false)); got != "map[eval:1 other:1 tune:0]" {
		t.Errorf("down: %s", got)
	}
	side := sub.Side(false)
	equal(t, "nodes below", ids(side.Nodes), []string{"eval", "other", "tune"})
	equal(t, "edges below", write(side.Edges), []string{"tune>eval:model", "tune>other:log"})
}

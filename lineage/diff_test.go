package lineage_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func object(pairs ...any) *pyjson.Object {
	o := &pyjson.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// inWords writes changes as "name: a -> b", with _ for what is not there.
func inWords(d *lineage.Diff) []string {
	list := []string{}
	word := func(v any, has bool) string {
		if !has {
			return "_"
		}
		return string(pyjson.Valid(v))
	}
	for _, part := range d.Parts() {
		for _, c := range part.Changes {
			text := fmt.Sprintf("%s %s: %s -> %s", part.Name, c.Name, word(c.A, c.HasA), word(c.B, c.HasB))
			if c.Also != "" {
				text += " = " + c.Also
			}
			list = append(list, text)
		}
	}
	return list
}

func TestDiffRuns(t *testing.T) {
	sum := func(digit string) string { return strings.Repeat(digit, 64) }
	a := &tracker.Run{ID: "local://s/train-a1", Metadata: object("params.lr", 0.1, "params.seed", int64(1), "metrics.loss", math.NaN(), "tags.x", "1",
		"note", "n", "heirloom.git.commit", "c1", "heirloom.git.dirty", false, "heirloom.started", "yesterday", "heirloom.host", "h", "params.gone", nil)}
	b := &tracker.Run{ID: "local://s/train-b2", Metadata: object("params.seed", int64(1), "params.lr", 0.2, "metrics.loss", math.NaN(), "metrics.f1", 1.0, "tags.x", "1",
		"note", "m", "heirloom.git.commit", "c2", "heirloom.git.dirty", false, "heirloom.started", "today", "heirloom.host", "h")}
	a.Artifacts = []tracker.Artifact{{Name: "kept", Metadata: object("heirloom.sha256", sum("1"))}, {Name: "model", Metadata: object("heirloom.sha256", sum("2"))},
		{Name: "old.bin", Metadata: object("heirloom.sha256", sum("3"))}, {Name: "dir", Metadata: object("heirloom.tree_sha256", sum("4"), "heirloom.size_bytes", int64(5))}}
	b.Artifacts = []tracker.Artifact{{Name: "kept", Metadata: object("heirloom.sha256", sum("1"))}, {Name: "model", Metadata: object("heirloom.sha256", sum("5"))},
		{Name: "new.bin", Metadata: object("heirloom.sha256", sum("3"))}, {Name: "dir", Metadata: object("heirloom.tree_sha256", sum("4"), "heirloom.size_bytes", int64(5))}}
	a.Sources = []tracker.Source{{ID: "clicks@1", Name: "clicks", Version: "1", Role: "input"}, {ID: "local://s/prepare-1", Artifact: "table"}, {ID: "s3://b/k", URI: "s3://b/k", Role: "input", Digest: sum("7")}}
	b.Sources = []tracker.Source{{ID: "clicks@2", Name: "clicks", Version: "2", Role: "input"}, {ID: "local://s/prepare-1", Artifact: "table"}, {ID: "s3://b/k", URI: "s3://b/k", Role: "input", Digest: sum("8")}}
	a.Attempts = []tracker.Attempt{{Number: 1, Start: tracker.AttemptStart{Environ: []string{"CUDA_VISIBLE_DEVICES=0"}}}}
	b.Attempts = []tracker.Attempt{{Number: 1, Start: tracker.AttemptStart{Environ: []string{"CUDA_VISIBLE_DEVICES=1"}}}}
	equal(t, "differences", inWords(lineage.DiffRuns(a, b)), []string{
		"params lr: 0.1 -> 0.2",
		"metrics f1: _ -> 1.0",
		`metadata note: "n" -> "m"`,
		`artifacts model: "sha256:` + sum("2") + `" -> "sha256:` + sum("5") + `"`,
		`artifacts new.bin: _ -> "sha256:` + sum("3") + `" = old.bin`,
		`artifacts old.bin: "sha256:` + sum("3") + `" -> _ = new.bin`,
		`code git.commit: "c1" -> "c2"`,
		`environment env.CUDA_VISIBLE_DEVICES: "0" -> "1"`,
		`inputs clicks: "clicks@1" -> "clicks@2"`,
		`inputs s3://b/k: "sha256:` + sum("7") + `" -> "sha256:` + sum("8") + `"`,
	})
	if d := lineage.DiffRuns(a, a); !d.Empty() {
		t.Errorf("a run differs from itself: %q", inWords(d))
	}
}

func TestDiverging(t *testing.T) {
	tests := []struct{ name, edges, a, b, want string }{
		{"another dataset", "clicks@1>prepare-a clicks@2>prepare-b prepare-a>train-a prepare-b>train-b", "train-a", "train-b", "[{clicks@1 clicks@2}]"},
		{"prepared twice", "clicks@1>prepare-a clicks@1>prepare-b prepare-a>train-a prepare-b>train-b", "train-a", "train-b", "[{prepare-a prepare-b}]"},
		{"the same", "clicks@1>train-a clicks@1>train-b", "train-a", "train-b", "[]"},
		{"one more", "clicks@1>train-a clicks@1>train-b base-x>train-b", "train-a", "train-b", "[{ base-x}]"},
		{"no ancestors", "train-a train-b", "train-a", "train-b", "[]"},
		{"itself", "clicks@1>train-a", "train-a", "train-a", "[]"},
		{"one descends from the other", "clicks@1>train-a train-a>train-b", "train-a", "train-b", "[]"},
		{"two of a name", "x-1>train-a x-2>train-a x-3>train-b", "train-a", "train-b", "[{ x-3} {x-1 } {x-2 }]"},
		{"a cycle of one side", "x-1>y-1 y-1>x-1 y-1>train-a c@1>train-a c@1>train-b", "train-a", "train-b", "[{x-1 } {y-1 }]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := graph(strings.Fields(tt.edges)...)
			got := lineage.Diverging(closure(t, g, tt.a, lineage.Query{Up: true}), closure(t, g, tt.b, lineage.Query{Up: true}))
			if fmt.Sprint(got) != tt.want {
				t.Errorf("%v, want %s", got, tt.want)
			}
		})
	}
}

// Inputs with equal digests are the same, whatever they are called.
func TestEqualBytesDoNotDiverge(t *testing.T) {
	input := func(id, to string) tracker.Edge {
		return tracker.Edge{From: tracker.RunID(id), To: tracker.RunID(to), Source: tracker.Source{ID: tracker.RunID(id), Role: tracker.RoleInput, URI: id, Digest: strings.Repeat("a", 64)}}
	}
	g := lineage.New(nil, []tracker.Edge{input("file:///one", "train-a"), input("file:///two", "train-b")})
	if got := lineage.Diverging(closure(t, g, "train-a", lineage.Query{Up: true}), closure(t, g, "train-b", lineage.Query{Up: true})); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestDivergingAgreesWithReference compares with the definition: of what one side alone has, that to which nothing of
// the like leads except what it leads to itself.
func TestDivergingAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(strings.Split("abcdefgh", ""))
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return name.Draw(t, "from") + ">" + name.Draw(t, "to")
		}), 1, 14).Draw(t, "edges")
		g := graph(append(lines, "a", "b")...)
		up := func(id string) map[string]bool {
			found := map[string]bool{id: true}
			for _, hop := range g.Ancestors(id, 0) {
				found[hop.ID] = true
			}
			return found
		}
		first := func(root string, of, other map[string]bool) []string {
			list := []string{}
			for id := range of {
				isFirst := !other[id] && id != root
				for above := range up(id) {
					if !other[above] && !up(above)[id] {
						isFirst = false
					}
				}
				if isFirst {
					list = append(list, id)
				}
			}
			slices.Sort(list)
			return list
		}
		wantA, wantB := first("a", up("a"), up("b")), first("b", up("b"), up("a"))
		x, _ := g.Closure("a", lineage.Query{Up: true})
		y, _ := g.Closure("b", lineage.Query{Up: true})
		gotA, gotB := []string{}, []string{}
		for _, p := range lineage.Diverging(x, y) {
			if p.A != "" {
				gotA = append(gotA, p.A)
			}
			if p.B != "" {
				gotB = append(gotB, p.B)
			}
		}
		slices.Sort(gotB)
		if !slices.Equal(gotA, wantA) || !slices.Equal(gotB, wantB) {
			t.Fatalf("%q: %q and %q, want %q and %q", lines, gotA, gotB, wantA, wantB)
		}
	})
}

package lineage_test

import (
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestMadeLeadsOnUp has a dataset whose maker no link names, and one that nobody used.
func TestMadeLeadsOnUp(t *testing.T) {
	dataset := tracker.Source{ID: "clicks@1", Name: "clicks", Version: "1", Role: tracker.RoleInput}
	g := lineage.New([]tracker.RunID{"l://s/prepare", "l://s/train"}, []tracker.Edge{
		{From: "raw.csv", To: "l://s/prepare", Source: tracker.Source{ID: "raw.csv", Role: tracker.RoleInput}},
		{From: "clicks@1", To: "l://s/train", Source: dataset},
	})
	ids := func(g *lineage.Graph, id string) (list []string) {
		for _, hop := range g.Ancestors(id, 0) {
			list = append(list, hop.ID)
		}
		return list
	}
	if got := ids(g, "l://s/train"); !slices.Equal(got, []string{"clicks@1"}) {
		t.Errorf("before: %v", got)
	}
	sub, err := g.Closure("l://s/train", lineage.Query{Up: true})
	if err != nil || len(sub.Unmade()) != 1 || sub.Unmade()[0].ID != "clicks@1" {
		t.Errorf("unmade: %v, %v", sub, err)
	}
	unused := tracker.Source{ID: "views@1", Name: "views", Version: "1"}
	made := []lineage.Made{{Run: "l://s/prepare", Artifact: "clicks@1", Input: dataset}, {Run: "l://s/gone", Artifact: "views@1", Input: unused}}
	for range 2 { // again: nothing is there twice
		g = g.WithMade(made)
		if got, want := ids(g, "l://s/train"), []string{"clicks@1", "l://s/prepare", "raw.csv"}; !slices.Equal(got, want) {
			t.Errorf("after: %v, want %v", got, want)
		}
		if got := ids(g, "views@1"); !slices.Equal(got, []string{"l://s/gone"}) {
			t.Errorf("of what nobody used: %v", got)
		}
		if got := g.Parents("clicks@1"); len(got) != 1 || got[0].Artifact != "clicks@1" {
			t.Errorf("parents: %v", got)
		}
	}
	if sub, err := g.Closure("l://s/train", lineage.Query{Up: true}); err != nil || len(sub.Unmade()) != 0 {
		t.Errorf("unmade: %v, %v", sub, err)
	}
	if node, err := g.Node("l://s/gone"); err != nil || !node.Missing {
		t.Errorf("a maker without records: %+v, %v", node, err)
	}
}

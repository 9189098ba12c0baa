package lineage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func expr(t *testing.T, text string) filter.Expr {
	t.Helper()
	if text == "" {
		return nil
	}
	e, err := filter.Parse(text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestImpact(t *testing.T) {
	tests := []struct{ name, root, where, gate, want string }{
		{"all", "prepare", "", "", "eval 1 [prepare] false; train1 1 [prepare] false; train2 1 [prepare] false; tune 1 [prepare] false; other 2 [tune] false; below 5, matched 0"},
		{"filtered", "prepare", "params.n = 5", "", "other 2 [tune] false; below 5, matched 0"},
		{"gate", "digits@1", "", "params.n > 4", "prepare 1 [digits@1] false; eval 2 [prepare] false; train1 2 [prepare] false; train2 2 [prepare] false; tune 2 [prepare] false; other 3 [tune] true; below 6, matched 1"},
		{"gate on what is listed alone", "prepare", "params.n < 4", "params.n = 5", "eval 1 [prepare] false; train1 1 [prepare] false; train2 1 [prepare] false; below 5, matched 0"},
		{"of an artifact", "tune#log", "", "", "other 1 [tune#log] false; below 1, matched 0"},
		{"of a leaf", "eval", "", "", "below 0, matched 0"},
	}
	numbers := map[string]int64{"train1": 1, "train2": 2, "eval": 3, "tune": 4, "other": 5} // prepare has no records
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sub := closure(t, pipeline(), tt.root, lineage.Query{Down: true})
			for i := range sub.Nodes {
				if n, ok := numbers[sub.Nodes[i].ID]; ok {
					sub.Nodes[i].Run = &tracker.Run{ID: tracker.RunID(sub.Nodes[i].ID), Metadata: pyjson.NewObject(pyjson.Member{Key: "params.n", Value: n})}
				}
			}
			impact := sub.Impact(expr(t, tt.where), expr(t, tt.gate))
			got := ""
			for _, a := range impact.Affected {
				got += fmt.Sprintf("%s %d %s %t; ", a.ID, a.Depth, a.Via, a.Gate)
			}
			if got += fmt.Sprintf("below %d, matched %d", impact.Below, impact.Matched); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A ring of a thousand runs lies below itself, and each of it is affected once.
func TestImpactOfACycle(t *testing.T) {
	sub := closure(t, graph(append(chain(1000), "run000999>run000000:model")...), "run000500", lineage.Query{Down: true})
	impact := sub.Impact(nil, nil)
	if impact.Below != 999 || len(impact.Affected) != 999 || impact.Affected[998].Depth != 999 {
		t.Errorf("%d below, %d affected", impact.Below, len(impact.Affected))
	}
}

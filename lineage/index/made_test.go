package index_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// An artifact with the path by which others know an input is that input: the way goes on from who used it to who made
// it, and back, over any number of runs, and through a run that reads what it wrote.
func TestWhatWasMadeLeadsOn(t *testing.T) {
	w := newWorld(t, 1)
	ctx := t.Context()
	const steps = 5
	run := func(i int) tracker.RunID { return tracker.RunID(fmt.Sprintf("openlineage://prod/step-%d", i)) }
	place := func(i int) string { return fmt.Sprintf("s3://lake/step-%d", i) }
	for i := range steps {
		if err := w.tracker.AddArtifact(ctx, run(i), tracker.Artifact{Name: "out", Path: place(i)}); err != nil {
			t.Fatal(err)
		}
		uses := []string{place(i - 1)}
		switch i {
		case 0:
			uses = nil
		case 2:
			uses = append(uses, place(2))
		}
		for _, uri := range uses {
			s, err := tracker.NewInput(tracker.Source{URI: uri}, "/")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.tracker.AddSource(ctx, run(i), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.index.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	whole, err := w.index.Graph(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []lineage.Query{{Up: true}, {Down: true}, {}, {Up: true, Depth: 3}} {
		for _, root := range []string{string(run(0)), string(run(2)), string(run(4)), place(2)} {
			near, err := w.index.Near(ctx, root, q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := near.Closure(root, q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := whole.Closure(root, q)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Edges, want.Edges) || len(got.Nodes) != len(want.Nodes) {
				t.Errorf("%s, %+v: %v, want %v", root, q, got.Edges, want.Edges)
			}
		}
	}
	sub, err := whole.Closure(string(run(4)), lineage.Query{Up: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Node(string(run(0))); err != nil || !slices.Contains(sub.Edges, lineage.Edge{From: string(run(2)), To: place(2), Artifact: "out"}) {
		t.Errorf("the way up from the last run is %v", sub.Edges)
	}
	if len(sub.Cycles()) != 1 {
		t.Errorf("cycles %v, want the run that reads what it wrote", sub.Cycles())
	}
}

package tracker_test

import (
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestRunIDs(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		ctx := t.Context()
		check(t, tr.Init(ctx, tracker.InitOptions{}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "x"}))
		check(t, tr.AddSource(ctx, "2", tracker.Source{ID: runB}))
		check(t, tr.AddMetadata(ctx, "é", nil))
		put(t, s, key(runC, "sources", runA.Encode()), "\n") // by TorchX
		same(t, "all", ids(t, tr, ""), []string{"2", string(runC), string(runB), "é"})
		same(t, "of A", ids(t, tr, runA), []string{string(runC), string(runB)})
		same(t, "of B", ids(t, tr, runB), []string{"2"})
		same(t, "of nobody", ids(t, tr, "nobody"), []string{})
		for id := range tr.RunIDs(ctx, "") {
			if id != "2" {
				t.Errorf("first is %s", id)
			}
			break
		}
	})
}

func TestRunsAndEdges(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		ctx := t.Context()
		check(t, tr.AddMetadata(ctx, runA, object("n", 1)))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "x"}))
		check(t, tr.AddSource(ctx, runB, tracker.Source{ID: "ext", Role: tracker.RoleInput, URI: "file:///d"}))
		put(t, s, key(runC, "sources", runA.Encode()), "y\n\n") // by TorchX, so without a mirror
		var got []string
		for run, err := range tr.Runs(ctx, nil) {
			check(t, err)
			var children []string
			for _, id := range run.Children {
				children = append(children, string(id))
			}
			got = append(got, string(run.ID)+" "+dump(t, run.Metadata)+" "+strings.Join(links(run.Sources), ",")+" > "+strings.Join(children, ","))
		}
		same(t, "runs", got, []string{
			string(runC) + " {} " + string(runA) + "," + string(runA) + "#y > ",
			string(runA) + ` {"n": 1}  > ` + string(runC) + "," + string(runB),
			string(runB) + " {} ext," + string(runA) + "#x > ",
		})
		got = nil
		for run, err := range tr.Runs(ctx, &tracker.RunsOptions{Parent: "ext"}) {
			check(t, err)
			got = append(got, string(run.ID))
		}
		same(t, "runs that used ext", got, []string{string(runB)})

		set, err := tr.Edges(ctx)
		check(t, err)
		got = nil
		for _, e := range set.Edges {
			if e.Source.ID != e.From {
				t.Errorf("edge %+v", e)
			}
			got = append(got, string(e.From)+"#"+e.Source.Artifact+" > "+string(e.To)+" "+e.Source.URI)
		}
		same(t, "edges", got, []string{
			string(runA) + "# > " + string(runC) + " ", string(runA) + "#y > " + string(runC) + " ",
			"ext# > " + string(runB) + " file:///d", string(runA) + "#x > " + string(runB) + " ",
		})
		if len(set.Runs) != 3 || len(set.Warnings) != 0 {
			t.Errorf("edge set %+v", set)
		}

		l, err := tr.Lineage(ctx, runA)
		check(t, err)
		got = nil
		for _, e := range l.Consumers {
			got = append(got, string(e.To)+"#"+e.Source.Artifact)
		}
		same(t, "consumers", got, []string{string(runC) + "#", string(runC) + "#y", string(runB) + "#x"})
		l, err = tr.Lineage(ctx, "ext")
		check(t, err)
		if len(l.Consumers) != 1 || l.Consumers[0].To != runB || l.Consumers[0].Source.URI != "file:///d" {
			t.Errorf("consumers of an input: %+v", l.Consumers)
		}
	})
}

// TestManyRuns crosses the bounds of pages and of runs read together.
func TestManyRuns(t *testing.T) {
	s := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	want := numbered("local://torchx/r-%04d", 1100)
	for _, id := range want {
		check(t, tr.AddMetadata(t.Context(), tracker.RunID(id), object("id", id)))
	}
	var got []string
	for run, err := range tr.Runs(t.Context(), nil) {
		check(t, err)
		if run.Metadata.Text("id") != string(run.ID) {
			t.Fatalf("%s has the metadata of %s", run.ID, run.Metadata.Text("id"))
		}
		got = append(got, string(run.ID))
	}
	same(t, "runs", got, want)
	same(t, "ids", ids(t, tr, ""), want)
}

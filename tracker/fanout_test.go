package tracker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestFanout(t *testing.T) {
	ctx := t.Context()
	one := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	refusing := openStore(t, "mem://", nil)
	put(t, refusing, "heirloom.json", `{"format": 9, "oldest_writer": 9}`)
	two := tracker.NewFileTracker(refusing, nil)
	three := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)

	both := tracker.NewFanout(one, three)
	check(t, both.AddMetadata(ctx, runA, object("a", 1)))
	check(t, both.AddArtifact(ctx, runA, tracker.Artifact{Name: "m", Path: "/m"}))
	check(t, both.AddSource(ctx, runA, tracker.Source{ID: runB}))
	for _, tr := range []tracker.Tracker{one, three, both} {
		m, err := tr.Metadata(ctx, runA)
		check(t, err)
		list, err := tr.Artifacts(ctx, runA)
		check(t, err)
		l, err := tr.Lineage(ctx, runA)
		check(t, err)
		if m.Len() != 1 || len(list) != 1 || len(l.Sources) != 1 {
			t.Errorf("%T: %v, %v, %v", tr, m, list, l)
		}
		same(t, "children", ids(t, tr, runB), []string{string(runA)})
	}

	all := tracker.NewFanout(one, two, three)
	if err := all.AddMetadata(ctx, runB, object("b", 2)); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("an error in the midst: %v", err)
	}
	if m, err := three.Metadata(ctx, runB); err != nil || m.Len() != 1 {
		t.Errorf("the one behind a failing tracker has %v, %v", m, err)
	}
	if _, err := tracker.NewFanout(two, one).Metadata(ctx, runA); err == nil {
		t.Error("a read did not ask the first")
	}
}

// TestAppRunOfSeveral has trackers that fail among those that do not: all are
// asked, and each failure is told.
func TestAppRunOfSeveral(t *testing.T) {
	ctx := t.Context()
	kinds := map[string]error{"denied": store.ErrPermission, "full": store.ErrNoSpace}
	good := map[string]*tracker.FileTracker{}
	factories := map[string]tracker.Factory{}
	for _, name := range []string{"first", "denied", "middle", "full", "last"} {
		s := openStore(t, "mem://", &store.Options{MaxAttempts: 1, Intercept: func(_ context.Context, q store.Request, do func() error) error {
			if kinds[name] != nil && q.Op != "get" && q.Op != "list" {
				return &store.Error{Op: q.Op, Key: q.Key, Kind: kinds[name], Err: kinds[name]}
			}
			return do()
		}})
		tr := tracker.NewFileTracker(s, nil)
		if kinds[name] == nil {
			good[name] = tr
		}
		factories[name] = func(context.Context, string) (tracker.Tracker, error) { return tr, nil }
	}
	run, err := tracker.FromEnviron(ctx, []string{"TORCHX_JOB_ID=" + string(runA), "TORCHX_TRACKERS=first,denied,middle,full,last,first"}, factories)
	check(t, err)
	for what, err := range map[string]error{
		"metadata": run.AddMetadata(ctx, object("a", 1)),
		"metrics":  errors.Join(run.AddMetrics(ctx, 1, map[string]float64{"loss": 1}), run.Flush(ctx)),
		"artifact": run.AddArtifact(ctx, tracker.Artifact{Name: "m", Path: "/m"}),
		"source":   run.AddSource(ctx, tracker.Source{ID: runB}),
		"close":    run.Close(),
	} {
		if !errors.Is(err, store.ErrPermission) || !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("%s: %v, want the errors of both", what, err)
		}
	}
	for name, tr := range good {
		got, err := tr.Run(ctx, runA)
		check(t, err)
		records, err := tr.History(ctx, runA, "a")
		check(t, err)
		if got.Metadata.Len() != 2 || len(got.Artifacts) != 1 || len(got.Sources) != 1 || len(records) != 1 {
			t.Errorf("the tracker %s has %s, %v, %v, %d records", name, dump(t, got.Metadata), got.Artifacts, got.Sources, len(records))
		}
	}
}

func TestFanoutOfNone(t *testing.T) {
	ctx := t.Context()
	none := tracker.NewFanout()
	check(t, none.AddMetadata(ctx, runA, nil))
	check(t, none.AddArtifact(ctx, runA, tracker.Artifact{}))
	check(t, none.AddSource(ctx, runA, tracker.Source{}))
	m, err := none.Metadata(ctx, runA)
	if err != nil || m.Len() != 0 {
		t.Errorf("metadata %v, %v", m, err)
	}
	if list, err := none.Sources(ctx, runA, ""); err != nil || len(list) > 0 {
		t.Errorf("sources %v, %v", list, err)
	}
	if list, err := none.Artifacts(ctx, runA); err != nil || len(list) > 0 {
		t.Errorf("artifacts %v, %v", list, err)
	}
	if l, err := none.Lineage(ctx, runA); err != nil || l.Run != runA {
		t.Errorf("lineage %v, %v", l, err)
	}
	same(t, "ids", ids(t, none, ""), []string{})
}

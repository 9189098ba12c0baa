package tracker_test

import (
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

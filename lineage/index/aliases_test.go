package index_test

import (
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestAliases follows names that are set, moved and removed; what did not change is not read again.
func TestAliases(t *testing.T) {
	w := newWorld(t, 1)
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	aliases := alias.NewSet(s, w.now)
	set := func(name string, run tracker.RunID, artifact string) {
		t.Helper()
		if _, err := aliases.Set(t.Context(), name, alias.Change{Run: run, Artifact: artifact, User: "ann", Reason: "why"}); err != nil {
			t.Fatal(err)
		}
	}
	requests := func(do func() error) int64 {
		t.Helper()
		before := s.Stats().Total()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return s.Stats().Total() - before
	}
	catchUp := func() error { return w.index.CatchUpAliases(t.Context(), aliases) }
	for i, step := range []struct {
		do       func()
		requests int64
	}{
		{func() {}, 1},
		{func() { set("prod", "a", "model"); set("best", "b", ""); set("prod-2", "a", "") }, 4},
		{func() {}, 1},
		{func() { set("prod", "c", "") }, 2},
		{func() { set("best", "", "") }, 2},
		{func() {}, 1},
		{func() { set("best", "b", "x"); set("best", "d", "") }, 2},
	} {
		step.do()
		if n := requests(catchUp); n != step.requests {
			t.Errorf("step %d: %d requests, want %d", i, n, step.requests)
		}
		want, err := aliases.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.index.Aliases(t.Context())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("step %d: %+v, error %v, want %+v", i, got, err, want)
		}
	}
	for o, err := range s.List(t.Context(), "heirloom/aliases/prod/") {
		if err == nil {
			err = s.Delete(t.Context(), o.Key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := catchUp(); err != nil {
		t.Fatal(err)
	}
	if got, err := w.index.Aliases(t.Context()); err != nil || len(got) != 2 {
		t.Errorf("%+v, error %v, want the two that are left", got, err)
	}
}

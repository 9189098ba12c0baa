package dataset_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// produceAnd calls f in the midst of producing.
func produceAnd(f func()) dataset.Produce {
	return func(ctx context.Context, w *dataset.Writer) error {
		f()
		return produce(ctx, w)
	}
}

// foreign stores Parquet that heirloom did not stage.
func foreign(t *testing.T, s *store.Store, names ...string) {
	t.Helper()
	from := openStore(t, "mem://", nil)
	d := stage(t, from, spec())
	body, err := from.Get(t.Context(), d.Commit.Splits[dataset.Train].Dir.Join(manifest(t, from, d, dataset.Train).Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		put(t, s, store.Key(name), string(body))
	}
}

func TestAdopt(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		lake := openStore(t, "mem://", nil)
		foreign(t, lake, "a/day=1/x.parquet", "a/day=2/y.parquet")
		d, hit, err := dataset.Adopt(t.Context(), s, lake, "a")
		if err != nil || hit {
			t.Fatalf("hit %v, %v", hit, err)
		}
		split := d.Commit.Splits[dataset.Train]
		m := manifest(t, s, d, dataset.Train)
		if split.Rows != 600 || split.Files != 2 || split.Location(s) != lake.KeyURL("a") || m.Files[1].Name != "day=2/y.parquet" {
			t.Errorf("adopted %+v of %+v", split, m.Files)
		}
		again, hit, err := dataset.Adopt(t.Context(), s, lake, "a")
		if err != nil || !hit || mustJSON(t, again) != mustJSON(t, d) {
			t.Errorf("adopted again: hit %v, %v", hit, err)
		}
		foreign(t, lake, "a/day=2/z.parquet")
		other, hit, err := dataset.Adopt(t.Context(), s, lake, "a")
		if err != nil || hit || other.Commit.Fingerprint == d.Commit.Fingerprint {
			t.Errorf("adopted with a file more: hit %v, %v", hit, err)
		}
	})
}

// TestAdoptWhileSomebodyWrites adds a file between the first look at a directory
// and the last.
func TestAdoptWhileSomebodyWrites(t *testing.T) {
	s := openStore(t, "mem://", nil)
	var lists atomic.Int64
	var lake *store.Store
	lake = openStore(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if r.Op == "list" && strings.HasPrefix(r.Key, "a") && lists.Add(1) == 3 {
			foreign(t, lake, "a/y.parquet")
		}
		return do()
	}})
	foreign(t, lake, "a/x.parquet")
	if _, _, err := dataset.Adopt(t.Context(), s, lake, "a"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Adopt = %v, want a conflict", err)
	}
	if list := keys(t, s, ""); len(list) > 0 {
		t.Errorf("recorded: %v", list)
	}
}

// BenchmarkHit is what it takes to be given a dataset that is there.
func BenchmarkHit(b *testing.B) {
	s, err := store.Open(b.Context(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, _, err := dataset.Stage(b.Context(), s, spec(), produce); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, hit, err := dataset.Stage(b.Context(), s, spec(), never); err != nil || !hit {
			b.Fatal(hit, err)
		}
	}
}

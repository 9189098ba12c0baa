package index_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestFewNewestAreThoseOfAll asks for few runs of more than are looked at one by one: the answer must begin that of all.
func TestFewNewestAreThoseOfAll(t *testing.T) {
	const runs = 300
	dir := t.TempDir()
	if err := lineagetest.New(lineagetest.Options{Runs: runs, Seed: 5}).Write(t.Context(), dir, 0, runs); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := index.Open(t.Context(), tracker.NewFileTracker(s, nil), index.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.LookAtNewest(50)
	for _, text := range []string{
		"params.optimizer = 'adam' and metrics.val_accuracy > 0.9", "params.seed = 7 or params.seed = 8", "params.seed < 0", "not tags.stage = 'train'",
		"state = 'UNKNOWN'", "params.seed in (3, 4, 5) and tags.stage like 'f%'", "name like 'prepare-%' or state != 'SUCCEEDED'",
	} {
		expr, err := filter.Parse(text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		all, err := x.Runs(t.Context(), index.Query{Where: expr})
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 5, 40} {
			some, err := x.Runs(t.Context(), index.Query{Where: expr, Limit: limit, Offset: 3})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := ids(some), ids(all[min(3, len(all)):min(limit+3, len(all))]); got != want {
				t.Errorf("%s, limit %d: %s, want %s", text, limit, got, want)
			}
		}
	}
	c, err := x.Completeness(t.Context())
	if err != nil || c.Runs != runs || c.Unreadable != 0 || c.NoInputs != 0 {
		t.Errorf("%+v, error %v", c, err)
	}
}

func ids(runs []*tracker.Run) string {
	var list []tracker.RunID
	for _, run := range runs {
		list = append(list, run.ID)
	}
	return fmt.Sprint(list)
}

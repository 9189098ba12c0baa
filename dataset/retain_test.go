package dataset_test

import (
	"errors"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

func TestPolicy(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	made := func(daysAgo int, bytes int64) dataset.Candidate {
		return dataset.Candidate{Item: dataset.Item{
			Committed: now.AddDate(0, 0, -daysAgo),
			Commit:    dataset.Commit{Splits: map[dataset.Name]dataset.CommitSplit{dataset.Train: {Bytes: bytes}}},
		}}
	}
	old, young := made(40, 100), made(1, 100)
	used, held, named, adopted := made(40, 100), made(40, 100), made(40, 100), made(40, 100)
	used.Used, used.Last = true, now.AddDate(0, 0, -2)
	held.Held = "a run is alive"
	named.Names = []dataset.Ref{{Name: "clicks", Version: "1"}}
	adopted.Commit.Index = -1
	list := []dataset.Candidate{old, young, used, held, named, adopted}
	month := 30 * 24 * time.Hour
	for _, test := range []struct {
		name   string
		policy dataset.Policy
		goes   []bool
	}{
		{"no rule", dataset.Policy{}, []bool{false, false, false, false, false, false}},
		{"age", dataset.Policy{OlderThan: month}, []bool{true, false, false, false, false, true}},
		{"age, names too", dataset.Policy{OlderThan: month, Named: true}, []bool{true, false, false, false, true, true}},
		{"no use", dataset.Policy{Unused: true}, []bool{true, true, false, false, false, true}},
		{"size", dataset.Policy{MaxBytes: 400}, []bool{true, false, false, false, false, false}},
		{"size, more", dataset.Policy{MaxBytes: 300}, []bool{true, false, true, false, false, false}},
		{"size after age", dataset.Policy{MaxBytes: 400, OlderThan: month}, []bool{true, false, false, false, false, true}},
		{"size that cannot be reached", dataset.Policy{MaxBytes: 1}, []bool{true, true, true, false, false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, d := range test.policy.Decide(list, now) {
				if d.Keep == test.goes[i] || d.Why == "" {
					t.Errorf("candidate %d: kept %v because %q", i, d.Keep, d.Why)
				}
			}
		})
	}
}

// TestSealedIndexIsCommitted has a producer die between the seal and the commit:
// its files are whole, and whoever cleans up commits them.
func TestSealedIndexIsCommitted(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		d := stage(t, s, spec())
		remove(t, s, store.Key("heirloom/datasets/"+d.Commit.Fingerprint))
		list, err := dataset.FindAbandoned(t.Context(), s, time.Now().Add(time.Hour), 0)
		if err != nil || len(list) != 0 && list[0].Bytes == 0 {
			t.Fatalf("abandoned: %+v, %v", list, err)
		}
		for _, a := range list {
			if freed, err := a.Reclaim(t.Context(), s); err != nil || freed != 0 {
				t.Errorf("reclaimed %d bytes, %v", freed, err)
			}
		}
		if again, hit, err := dataset.Stage(t.Context(), s, spec(), never); err != nil || !hit || again.Commit.Index != d.Commit.Index {
			t.Errorf("staged again: hit %v, %v", hit, err)
		}
	})
}

// TestDeletedDatasetIsNotRevived deletes a dataset, interrupted after each of its
// steps, and cleans up: it is gone or whole, and can be made anew.
func TestDeletedDatasetIsNotRevived(t *testing.T) {
	s := openStore(t, "mem://", nil)
	d := stage(t, s, spec())
	items, err := dataset.Inventory(t.Context(), s)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	if err := items[0].Mark(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if freed, err := items[0].Delete(t.Context(), s); err != nil || freed == 0 {
		t.Fatalf("freed %d, %v", freed, err)
	}
	if rest := keys(t, s, "intermediate_"); len(rest) > 0 {
		t.Errorf("left: %v", rest)
	}
	// Some of it comes to light again, as after a deletion that was interrupted.
	put(t, s, d.Commit.Splits[dataset.Train].Dir.Join("part-00000.parquet"), "PAR1")
	list, err := dataset.FindAbandoned(t.Context(), s, time.Now().Add(time.Hour), 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("abandoned: %+v, %v", list, err)
	}
	if _, err := list[0].Reclaim(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if rest := keys(t, s, "intermediate_"); len(rest) > 0 {
		t.Errorf("left: %v", rest)
	}
	if _, _, err := dataset.Lookup(t.Context(), s, string(d.Commit.Fingerprint)); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("it is there again: %v", err)
	}
	if again := stage(t, s, spec()); again.Commit.Index == d.Commit.Index {
		t.Error("its index was given out again")
	}
}

// TestProducersAtWorkAreNotReclaimed has prune meet a producer.
func TestProducersAtWorkAreNotReclaimed(t *testing.T) {
	s := openStore(t, "mem://", nil)
	_, _, err := dataset.Stage(t.Context(), s, spec(), produceAnd(func() {
		for _, test := range []struct {
			later, grace time.Duration
			count        int
		}{
			{0, time.Hour, 0},
			{50 * time.Second, 0, 0}, // its lease lasts for a minute
			{70 * time.Second, 0, 1},
			{70 * time.Second, time.Hour, 0},
		} {
			list, err := dataset.FindAbandoned(t.Context(), s, time.Now().Add(test.later), test.grace)
			if err != nil || len(list) != test.count {
				t.Errorf("%v later, grace %v: abandoned %+v, %v", test.later, test.grace, list, err)
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
}

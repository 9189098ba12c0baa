package dataset_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// late marks the context of a producer that stands still before its commit.
type late struct{}

// TestLateCommitAfterPruning has a producer stand still between its seal and its
// commit, until another made the dataset, what it had left was reclaimed, and the
// other dataset was pruned. Its commit must not make of files that are gone a
// dataset; what is staged after that is whole.
func TestLateCommitAfterPruning(t *testing.T) {
	for _, again := range []bool{false, true} {
		sealed, wake := make(chan struct{}), make(chan struct{})
		s := openStore(t, "mem://", &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
			if ctx.Value(late{}) != nil {
				switch {
				case strings.HasSuffix(r.Key, ".beat"):
					return store.ErrPermission // which is not tried again
				case r.Op == "create" && strings.HasSuffix(r.Key, "000000.end") && strings.Contains(r.Key, "index"):
					defer close(sealed)
				case r.Op == "create" && !strings.Contains(r.Key, "/index/") && strings.Contains(r.Key, "heirloom/datasets/"):
					<-wake
				}
			}
			return do()
		}})
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx := context.WithValue(t.Context(), late{}, true)
			d, hit, err := dataset.Stager{Lease: time.Millisecond}.Stage(ctx, s, spec(), produce)
			if again && (err != nil || !hit || d.Commit.Index != 2) || !again && !errors.Is(err, store.ErrConflict) {
				t.Errorf("who stood still: hit %v, %v", hit, err)
			}
		})
		<-sealed
		stage(t, s, spec())
		prune(t, s)
		if again {
			stage(t, s, spec())
		}
		close(wake)
		wg.Wait()
		d, hit, err := dataset.Stage(t.Context(), s, spec(), produce)
		if err != nil || hit != again || d.Commit.Index != 2 || d.Commit.Generation != 1 {
			t.Fatalf("staged after all: hit %v, %+v, %v", hit, d, err)
		}
		read(t, s, d.Commit.Splits[dataset.Train].Dir, 0, 300)
		reclaimAll(t, s)
		read(t, s, d.Commit.Splits[dataset.Val].Dir, 300, 400)
		if items, err := dataset.Inventory(t.Context(), s); err != nil || len(items) != 1 {
			t.Errorf("inventory: %+v, %v", items, err)
		}
	}
}

// prune reclaims what is abandoned, and deletes every dataset.
func prune(t *testing.T, s *store.Store) {
	t.Helper()
	reclaimAll(t, s)
	items, err := dataset.Inventory(t.Context(), s)
	if err != nil || len(items) == 0 {
		t.Fatal(items, err)
	}
	for _, item := range items {
		if freed, err := item.Delete(t.Context(), s); err != nil || freed == 0 {
			t.Fatalf("freed %d, %v", freed, err)
		}
	}
	if rest := keys(t, s, "intermediate_"); len(rest) > 0 {
		t.Fatalf("left: %v", rest)
	}
}

// reclaimAll reclaims what is abandoned, and looks that nothing else remains but
// the datasets.
func reclaimAll(t *testing.T, s *store.Store) {
	t.Helper()
	list, err := dataset.FindAbandoned(t.Context(), s, time.Now().Add(time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if _, err := a.Reclaim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	items, err := dataset.Inventory(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, item := range items {
		for _, split := range item.Commit.Splits {
			kept[string(split.Dir)] = true
		}
	}
	for _, key := range keys(t, s, "intermediate_") {
		if dir, _, _ := strings.Cut(key, "/"); !kept[dir] {
			t.Errorf("%s remains and belongs to no dataset", key)
		}
	}
	t.Logf("%d abandoned indices beside %d datasets", len(list), len(items))
}

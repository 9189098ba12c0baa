package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// quiet marks the context of a producer whose signs of life do not arrive.
type quiet struct{}

// loseBeats is a store's Intercept under which those of a quiet producer fail.
func loseBeats(ctx context.Context, r store.Request, do func() error) error {
	if ctx.Value(quiet{}) != nil && strings.HasSuffix(r.Key, ".beat") {
		return store.ErrPermission // which is not tried again
	}
	return do()
}

func TestOneProducesAndTheOthersWait(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		const stagers = 8
		var (
			wg       sync.WaitGroup
			produced atomic.Int64
			waited   atomic.Int64
			results  [stagers]*dataset.Dataset
			hits     [stagers]bool
			errs     [stagers]error
		)
		others := make(chan struct{})
		stager := dataset.Stager{Waiting: func(dataset.Waiting) {
			if waited.Add(1) == stagers-1 {
				close(others)
			}
		}}
		for i := range stagers {
			wg.Go(func() {
				results[i], hits[i], errs[i] = stager.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
					produced.Add(1)
					<-others // somebody has waited, several times or several at once
					return produce(ctx, w)
				})
			})
		}
		wg.Wait()
		made := 0
		for i := range stagers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if !hits[i] {
				made++
			}
			if mustJSON(t, results[i]) != mustJSON(t, results[0]) {
				t.Errorf("stager %d got %s, stager 0 %s", i, mustJSON(t, results[i].Commit), mustJSON(t, results[0].Commit))
			}
		}
		if produced.Load() != 1 || made != 1 {
			t.Errorf("produced %d times, %d stagers say that they made it", produced.Load(), made)
		}
		read(t, s, results[0].Commit.Splits[dataset.Train].Dir, 0, 300)
	})
}

// TestBeatsKeepTheLease has a producer work for many times its lease.
func TestBeatsKeepTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", nil)
		stager := dataset.Stager{Lease: time.Minute}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, hit, err := stager.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
				time.Sleep(time.Hour)
				return produce(ctx, w)
			})
			if err != nil || hit {
				t.Errorf("the producer: hit %v, %v", hit, err)
			}
		})
		synctest.Wait()
		var longest time.Duration
		stager.Waiting = func(w dataset.Waiting) {
			longest = max(longest, w.Quiet)
			if w.Host == "" || w.PID == 0 || w.Lease != time.Minute {
				t.Errorf("waiting for %+v", w)
			}
		}
		_, hit, err := stager.Stage(t.Context(), s, spec(), never)
		if err != nil || !hit {
			t.Errorf("who waited: hit %v, %v", hit, err)
		}
		if longest == 0 || longest > 20*time.Second {
			t.Errorf("the longest time without a sign of life was %v, want that of a beat", longest)
		}
		wg.Wait()
	})
}

func never(context.Context, *dataset.Writer) error { return errors.New("produced again") }

// TestSilentProducerIsReplaced has a producer whose signs of life stop. Another
// takes over when its lease has run out and no sooner; the first one, back at
// work, writes into its own directory, loses, and is given what the other made.
func TestSilentProducerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", &store.Options{Intercept: loseBeats})
		stager := dataset.Stager{Lease: time.Minute}
		wake := make(chan struct{})
		var wg sync.WaitGroup
		var late *dataset.Dataset
		wg.Go(func() {
			ctx := context.WithValue(t.Context(), quiet{}, true)
			d, hit, err := stager.Stage(ctx, s, spec(), func(ctx context.Context, w *dataset.Writer) error {
				first := w.WriteTable(ctx, dataset.Train, table(0, 200))
				<-wake
				return errors.Join(first, w.WriteTable(ctx, dataset.Val, table(300, 400)), w.WriteTable(ctx, dataset.Train, table(200, 300)))
			})
			if err != nil || !hit {
				t.Errorf("who stood still: hit %v, %v", hit, err)
			}
			late = d
		})
		synctest.Wait()
		begun := time.Now()
		d, hit, err := stager.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
			if waited := time.Since(begun); waited < time.Minute || waited > 2*time.Minute {
				t.Errorf("took over after %v", waited)
			}
			return produce(ctx, w)
		})
		if err != nil || hit || d.Commit.Index != 1 {
			t.Fatalf("who took over: hit %v, index %d, %v", hit, d.Commit.Index, err)
		}
		before := keys(t, s, "intermediate_train_data.1/")
		close(wake)
		wg.Wait()
		if mustJSON(t, late) != mustJSON(t, d) {
			t.Errorf("who stood still got %s, want %s", mustJSON(t, late.Commit), mustJSON(t, d.Commit))
		}
		if after := keys(t, s, "intermediate_train_data.1/"); !slices.Equal(before, after) {
			t.Errorf("the winner's directory held %v, now %v", before, after)
		}
		if rest := keys(t, s, "intermediate_train_data.0"); len(rest) > 0 {
			t.Errorf("the loser left %v", rest)
		}
		read(t, s, "intermediate_train_data.1", 0, 300)
	})
}

// TestReclaimedIndexIsNeverCommitted has a producer stand still until what it
// wrote was reclaimed.
func TestReclaimedIndexIsNeverCommitted(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		_, _, err := dataset.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
			put(t, s, "heirloom/datasets/index/000000.end", `{"version": 1, "state": "reclaimed"}`)
			return produce(ctx, w)
		})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("Stage = %v, want a conflict", err)
		}
		if list := keys(t, s, "heirloom/datasets/"); slices.ContainsFunc(list, func(key string) bool { return !strings.Contains(key, "/index/") }) {
			t.Errorf("it was committed: %v", list)
		}
	})
}

// TestFailureIsNotWaitedFor has a producer give up: the next one starts at once.
func TestFailureIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", nil)
		begun := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := dataset.Stage(t.Context(), s, spec(), func(context.Context, *dataset.Writer) error {
				time.Sleep(10 * time.Second)
				return errors.New("no more")
			})
			if err == nil || err.Error() != "no more" {
				t.Errorf("the first one: %v", err)
			}
		})
		synctest.Wait()
		_, hit, err := dataset.Stage(t.Context(), s, spec(), produce)
		if took := time.Since(begun); err != nil || hit || took > 20*time.Second {
			t.Errorf("the second one: hit %v, %v, after %v", hit, err, took)
		}
		wg.Wait()
	})
}

func TestWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "mem://", nil)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := dataset.Stage(t.Context(), s, spec(), func(ctx context.Context, w *dataset.Writer) error {
				time.Sleep(time.Hour)
				return produce(ctx, w)
			})
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := dataset.Stage(ctx, s, spec(), never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stage = %v", err)
		}
		wg.Wait()
	})
}

// TestCancelledProducerGivesItsLeaseBack has the context of a producer end.
func TestCancelledProducerGivesItsLeaseBack(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, err := dataset.Stage(ctx, s, spec(), func(ctx context.Context, w *dataset.Writer) error {
			cancel()
			return errors.Join(produce(ctx, w), ctx.Err())
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Stage = %v", err)
		}
		if rest := keys(t, s, "intermediate_"); len(rest) > 0 {
			t.Errorf("left behind: %v", rest)
		}
		if d := stage(t, s, spec()); d.Commit.Index != 1 {
			t.Errorf("staged again under index %d, want 1", d.Commit.Index)
		}
	})
}

// TestForeignLease takes a lease that makes no sense for one of a minute.
func TestForeignLease(t *testing.T) {
	fingerprint, err := spec().Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"", "no JSON", `{"version": 1, "fingerprint": "x", "number": 7, "lease_seconds": 1e9}`} {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			put(t, s, store.Key(fmt.Sprintf("heirloom/leases/%s/000007", fingerprint)), body)
			begun := time.Now()
			stage(t, s, spec())
			if took := time.Since(begun); took < time.Minute || took > 2*time.Minute {
				t.Errorf("lease %q: taken over after %v", body, took)
			}
			if list := keys(t, s, "heirloom/leases/"); !slices.ContainsFunc(list, func(key string) bool { return strings.HasSuffix(key, "/000008") }) {
				t.Errorf("leases: %v", list)
			}
		})
	}
}

package index_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fill fills an empty index of the same root from that of w.
func (w *world) fill(to *index.Index) int {
	w.Helper()
	s, err := w.index.Snapshot(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	defer s.Close()
	settings, err := s.Settings(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	n, err := to.Fill(w.Context(), settings, s.Entries(w.Context()))
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// settle refreshes the index when all there is is older than a listing's uncertainty.
func (w *world) settle() {
	w.Helper()
	w.clock = time.Now().Add(time.Hour)
	if _, err := w.index.Refresh(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func TestFilledIndexReadsWhatChanged(t *testing.T) {
	w := newWorld(t, 11)
	for range 300 {
		w.step()
	}
	w.settle()
	other := &world{T: t, tracker: w.tracker, random: w.random, clock: w.clock, runs: w.runs}
	other.index = other.open(t.TempDir())
	n := w.fill(other.index)
	if want, err := w.index.Completeness(t.Context()); err != nil || n != want.Runs {
		t.Errorf("%d runs filled, want %d, error %v", n, want.Runs, err)
	}
	was, err := w.index.AsOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if is, err := other.index.AsOf(t.Context()); err != nil || !is.Equal(was) {
		t.Errorf("as of %v, want %v, error %v", is, was, err)
	}
	m := &tracker.Metadata{}
	m.Set("params.new", int64(1))
	if err := w.tracker.AddMetadata(t.Context(), w.runs[0], m); err != nil {
		t.Fatal(err)
	}
	done, err := other.index.Refresh(t.Context())
	if err != nil || done.Read != 1 {
		t.Errorf("%d runs read after one changed, error %v", done.Read, err)
	}
	other.check()
}

// TestFilledIndexEqualsRecords fills at random moments and compares all answers.
func TestFilledIndexEqualsRecords(t *testing.T) {
	w := newWorld(t, 12)
	for round := range 6 {
		for range 25 {
			w.step()
		}
		w.drop()
		if round%2 == 0 {
			w.settle()
		} else if _, err := w.index.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		other := &world{T: t, tracker: w.tracker, random: w.random, clock: w.clock, runs: w.runs}
		other.index = other.open(t.TempDir())
		w.fill(other.index)
		w.step()
		w.drop()
		other.runs = w.runs
		other.check()
	}
}

// TestFillingForgetsWhatWasLeft fills an index that a refresh began before a run was deleted.
func TestFillingForgetsWhatWasLeft(t *testing.T) {
	w := newWorld(t, 16)
	for range 50 {
		w.step()
	}
	w.settle()
	ctx, cancel := context.WithCancel(t.Context())
	other, err := index.Open(t.Context(), w.tracker, index.Options{Dir: t.TempDir(), Now: w.now, Progress: func(int, int) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("refresh ended with %v", err)
	}
	left, err := other.RunIDs(t.Context())
	if err != nil || len(left) == 0 {
		t.Fatalf("the refresh that did not end left %v behind, error %v", left, err)
	}
	gone := w.drop()
	for !slices.Contains(left, gone) { // of which nothing was written yet
		gone = w.drop()
	}
	w.settle()
	w.fill(other)
	want, err := w.index.RunIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := other.RunIDs(t.Context()); err != nil || !slices.Equal(ids, want) || slices.Contains(ids, gone) {
		t.Errorf("filled with %v, want %v, error %v", ids, want, err)
	}
}

func TestKnownIndexIsNotFilled(t *testing.T) {
	w := newWorld(t, 13)
	for range 50 {
		w.step()
	}
	w.settle()
	other := w.open(t.TempDir())
	if _, err := other.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.fill(other); n != 0 {
		t.Errorf("%d runs filled into an index that is known, want none", n)
	}
}

func TestFailedFillingIsNoRefresh(t *testing.T) {
	w := newWorld(t, 14)
	for range 50 {
		w.step()
	}
	w.settle()
	s, err := w.index.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cut := errors.New("cut")
	for name, entries := range map[string]iter.Seq2[index.Entry, error]{
		"an error": func(yield func(index.Entry, error) bool) {
			for e := range s.Entries(t.Context()) {
				if !yield(e, nil) {
					return
				}
				break
			}
			yield(index.Entry{}, cut)
		},
		"no JSON": func(yield func(index.Entry, error) bool) {
			yield(index.Entry{Run: &tracker.Run{ID: "a://b/c"}, Body: "{"}, nil)
		},
		"no run": func(yield func(index.Entry, error) bool) {
			yield(index.Entry{Run: &tracker.Run{}, Body: "{}"}, nil)
		},
	} {
		other := w.open(t.TempDir())
		_, err := other.Fill(t.Context(), map[string]int64{"refreshed": 1}, entries)
		if !errors.Is(err, cut) && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
		if asOf, err := other.AsOf(context.Background()); err != nil || !asOf.IsZero() {
			t.Errorf("%s: as of %v, want never, error %v", name, asOf, err)
		}
	}
}

func TestDigestTellsStatesApart(t *testing.T) {
	w := newWorld(t, 15)
	seen := map[string]int{}
	for i := range 40 {
		w.step()
		if _, err := w.index.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, err := w.index.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first, err := s.Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Digest(t.Context()); err != nil || again != first {
			t.Fatalf("two digests of one state, error %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if before, known := seen[first]; known && before != i-1 {
			t.Errorf("states %d and %d have one digest", before, i)
		}
		seen[first] = i
	}
	if len(seen) < 25 {
		t.Errorf("%d digests of 40 states", len(seen))
	}
}

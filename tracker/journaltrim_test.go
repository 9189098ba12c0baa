package tracker_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestTrimJournal keeps what is young by either clock, and what is no entry.
func TestTrimJournal(t *testing.T) {
	ctx, s := t.Context(), openStore(t, t.TempDir(), nil)
	journal := s.Sub("heirloom/journal")
	now := time.Now()
	clock := now
	writer := tracker.NewFileTracker(s.Sub("tracker"), &tracker.Options{Journal: journal, Now: func() time.Time { return clock }})
	announce := func(run tracker.RunID, said, kept time.Time) {
		known := keysOf(t, journal)
		clock = said
		if err := writer.Announce(ctx, run); err != nil {
			t.Fatal(err)
		}
		for _, key := range keysOf(t, journal) {
			file, _ := journal.LocalPath(key)
			if slices.Contains(known, key) {
				continue
			}
			if err := os.Chtimes(file, kept, kept); err != nil {
				t.Fatal(err)
			}
		}
	}
	old, young := now.Add(-tracker.JournalKept-time.Hour), now.Add(-tracker.JournalKept+time.Hour)
	for _, run := range []tracker.RunID{"local://torchx/a", "local://torchx/b", "local://torchx/c"} {
		announce(run, old, old)
	}
	announce("local://torchx/slow", old, young)
	announce("local://torchx/fast", young, old)
	if err := journal.Put(ctx, "0000/README", []byte("not an entry")); err != nil {
		t.Fatal(err)
	}
	file, _ := journal.LocalPath("0000/README")
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		most int
		dry  bool
		want tracker.Trimmed
		left int
	}{
		{"dry run", 10, true, tracker.Trimmed{Entries: 3}, 6},
		{"bounded", 2, false, tracker.Trimmed{Entries: 2, More: true}, 4},
		{"the rest", 2, false, tracker.Trimmed{Entries: 1}, 3},
		{"nothing more", 2, false, tracker.Trimmed{}, 3},
	} {
		done, err := writer.TrimJournal(ctx, now, step.most, step.dry)
		if err != nil || done != step.want {
			t.Errorf("%s: %+v, want %+v, error %v", step.name, done, step.want, err)
		}
		if left := keysOf(t, journal); len(left) != step.left {
			t.Errorf("%s: %d objects left, want %d: %v", step.name, len(left), step.left, left)
		}
	}
	var runs []tracker.RunID
	for e, err := range writer.Journal(ctx, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, e.Run)
	}
	if want := []tracker.RunID{"local://torchx/slow", "local://torchx/fast"}; !slices.Equal(runs, want) {
		t.Errorf("entries left of %v, want %v", runs, want)
	}
}

func keysOf(t *testing.T, s *store.Store) (keys []store.Key) {
	t.Helper()
	for o, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

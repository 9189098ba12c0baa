package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// history is a world of several writers: heirloom's, each with a clock of its own, which keep a journal; TorchX and
// heirlooms that are killed, which do not.
type history struct {
	*world
	store   *store.Store
	writers []*tracker.FileTracker
	mute    *tracker.FileTracker // keeps no journal
	dir     string               // of the index
	other   *index.Index         // of the same file, as another process has it
	silent  bool                 // something was done of which the journal does not tell

	kept map[store.Key]bool // notes whose times are as they are to be
}

// skews are how far the writers' clocks are off.
var skews = []time.Duration{0, -50 * time.Minute, -3 * time.Second, 7 * time.Hour, 400 * 24 * time.Hour}

func newHistory(t *testing.T, seed uint64, url string) *history {
	t.Helper()
	h := &history{world: newWorld(t, seed), dir: t.TempDir(), kept: map[store.Key]bool{}}
	h.clock, h.sparing = time.Now(), true
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h.store = s
	journal := s.Sub("heirloom/journal")
	for _, skew := range skews {
		now := func() time.Time { return h.now().Add(skew) }
		h.writers = append(h.writers, tracker.NewFileTracker(s.Sub("tracker"), &tracker.Options{Now: now, Journal: journal}))
	}
	h.mute = tracker.NewFileTracker(s.Sub("tracker"), &tracker.Options{Now: h.now})
	h.tracker = h.writers[0]
	h.reopen()
	return h
}

func (h *history) reopen() {
	h.index, h.other = h.open(h.dir), h.open(h.dir)
}

// act does one thing as one of the writers, and says so if the journal does not tell of it.
func (h *history) act() {
	h.Helper()
	reader := h.tracker
	defer func() { h.tracker = reader }()
	switch h.random.IntN(40) {
	case 0:
		h.tracker = h.mute
		h.step()
		h.silent = true
	case 1:
		h.torchX()
	case 2:
		h.remove(h.random.IntN(2) == 0)
	case 3:
		h.damage()
	default:
		h.tracker = h.writers[h.random.IntN(len(h.writers))]
		h.step()
		h.announce(h.tracker)
	}
}

// announce tells of all that a step may have changed, as the commands do that add something.
func (h *history) announce(t *tracker.FileTracker) {
	if err := t.Announce(h.Context(), h.last); err != nil {
		h.Fatal(err)
	}
	h.delay()
}

// delay makes each second note one that was kept before it could be seen: a listing may pass its place just then, and go
// on to younger ones. Of a store in memory nobody can change the times.
func (h *history) delay() {
	h.Helper()
	if _, local := h.store.LocalPath(""); !local || h.random.IntN(2) == 0 {
		return
	}
	for o, err := range h.store.List(h.Context(), "heirloom/journal/") {
		if err != nil {
			h.Fatal(err)
		}
		if h.kept[o.Key] {
			continue
		}
		h.kept[o.Key] = true
		file, _ := h.store.LocalPath(o.Key)
		if err := os.Chtimes(file, time.Time{}, o.Modified.Add(-10*time.Second)); err != nil {
			h.Fatal(err)
		}
	}
}

// torchX writes as its tracker does.
func (h *history) torchX() {
	id := tracker.RunID(fmt.Sprintf("slurm://torchx/foreign-%02d", h.random.IntN(20)))
	if !slices.Contains(h.runs, id) {
		h.runs = append(h.runs, id)
	}
	parent := h.runs[h.random.IntN(len(h.runs))]
	root := h.store.Sub("tracker").Sub(store.Key(id.Encode()))
	for key, body := range map[store.Key]string{
		store.Key(fmt.Sprintf("metadata/%d", h.clock.UnixNano())): fmt.Sprintf(`{"metadata": {"params.p1": %d}}`, h.random.IntN(4)),
		store.Key("sources/" + parent.Encode()):                   "a1\n",
	} {
		if err := root.Put(h.Context(), key, []byte(body)); err != nil {
			h.Fatal(err)
		}
	}
	h.silent = true
}

// remove deletes a run, with or without a word.
func (h *history) remove(announced bool) {
	gone := h.drop()
	if gone == "" {
		return
	}
	if !announced {
		h.silent = true
		return
	}
	if err := h.writers[h.random.IntN(len(h.writers))].Announce(h.Context(), gone); err != nil {
		h.Fatal(err)
	}
}

// damage spoils the file of the index while nobody has it open.
func (h *history) damage() {
	if err := errors.Join(h.index.Close(), h.other.Close()); err != nil {
		h.Fatal(err)
	}
	body, err := os.ReadFile(h.index.File())
	if err != nil {
		h.Fatal(err)
	}
	switch h.random.IntN(3) {
	case 0:
		body = body[:len(body)/2]
	case 1:
		copy(body, "no such thing")
	case 2:
		body = nil
	}
	if err := os.WriteFile(h.index.File(), body, 0o600); err != nil {
		h.Fatal(err)
	}
	if h.random.IntN(2) == 0 {
		if err := os.WriteFile(filepath.Join(h.dir, "stray"), body, 0o600); err != nil {
			h.Fatal(err)
		}
	}
	h.reopen()
}

// catchUp brings the index up to date as two processes at once, while writers go on, and then compares: what was done
// silently is seen by a whole listing only.
func (h *history) catchUp(ctx context.Context) {
	h.Helper()
	var group sync.WaitGroup
	for _, x := range []*index.Index{h.index, h.other} {
		group.Go(func() {
			if _, err := x.CatchUp(ctx); err != nil {
				h.Error(err)
			}
		})
	}
	for range h.random.IntN(6) {
		h.act0()
	}
	group.Wait()
	h.pass(time.Minute)
	done, err := h.index.CatchUp(ctx)
	if err == nil && h.silent && !done.Whole {
		done, err = h.index.Refresh(ctx)
	}
	if err != nil {
		h.Fatal(err)
	}
	if done.Whole {
		h.silent = false
	}
	h.compare(ctx)
}

// act0 is act but for what only one who is alone may do.
func (h *history) act0() {
	h.Helper()
	t := h.writers[h.random.IntN(len(h.writers))]
	reader := h.tracker
	h.tracker = t
	h.step()
	h.tracker = reader
	h.announce(t)
}

// TestHistories plays random histories of many writers and compares all answers of an index, which mostly listens to
// the journal, with those of the records.
func TestHistories(t *testing.T) {
	steps := 500
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		steps = 10000
	}
	for seed, url := range []string{"mem://", "mem://", "mem://", t.TempDir(), "mem://"} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, uint64(seed), url)
			for i := range steps / 5 {
				h.act()
				if i%15 == 14 {
					h.catchUp(t.Context())
				}
			}
		})
	}
}

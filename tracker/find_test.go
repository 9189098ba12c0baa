package tracker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func TestFind(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		for _, id := range []tracker.RunID{runA, runB, runC, "local://torchx/train-bbbb", "slurm://torchx/train-bbb", "train-bbb", "x"} {
			check(t, tr.AddMetadata(t.Context(), id, nil))
		}
		for text, want := range map[string]tracker.RunID{
			string(runA):    runA,
			"prepare":       runA,
			"-ccc":          runC,
			"train-bbbb":    "local://torchx/train-bbbb",
			"train-bbb":     "train-bbb", // the id itself beats ids that end in it
			"slurm:":        "slurm://torchx/train-bbb",
			"x":             "x",
			"torchx/prepar": runA,
		} {
			if got, err := tr.Find(t.Context(), text); err != nil || got != want {
				t.Errorf("%q: got %q, %v, want %s", text, got, err, want)
			}
		}
		for _, text := range []string{"nothing", "local://torchx/nothing"} {
			if _, err := tr.Find(t.Context(), text); !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), text) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if got, err := tr.Find(t.Context(), "tra"); err == nil {
			t.Errorf("the beginning of three names: got %s", got)
		}
		_, err := tr.Find(t.Context(), "local://torchx/train")
		var several *tracker.AmbiguousError
		if !errors.As(err, &several) || !errors.Is(err, store.ErrConflict) {
			t.Fatalf("ambiguous: %v", err)
		}
		if fmt.Sprint(several.Candidates) != "[local://torchx/train-bbb local://torchx/train-bbbb]" {
			t.Errorf("candidates %v", several.Candidates)
		}
	})
}

func TestMatchPrefersNames(t *testing.T) {
	ids := []tracker.RunID{"local://torchx/a-train", "slurm://torchx/train"}
	if got, err := tracker.Match(ids, "train"); err != nil || got != "slurm://torchx/train" {
		t.Errorf("got %s, %v", got, err)
	}
	_, err := tracker.Match([]tracker.RunID{"b://s/n", "a://s/n", "c://s/n", "d://s/n", "e://s/n", "f://s/n", "g://s/n"}, "n")
	if want := `"n" could be any of 7: a://s/n, b://s/n, c://s/n, d://s/n, e://s/n, and 2 more`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMatchPrefersBeginnings(t *testing.T) {
	ids := []tracker.RunID{"local://torchx/pretrain-x7f2", "local://torchx/train-b9k1"}
	if got, err := tracker.Match(ids, "train"); err != nil || got != "local://torchx/train-b9k1" {
		t.Errorf("got %s, %v", got, err)
	}
}

// What an ambiguous text could be is shown as short as it can be typed: each short form finds its own run.
func TestCandidatesAreShortened(t *testing.T) {
	for text, want := range map[string]string{
		"train": "train-x7f2, train-x7g9, train-small-q1w2",
		"x7":    "pretrain-x7f2, train-x7f2c, train-x7g9",
		"l://":  "local://torchx/pretrain-x7f2aaa, local://torchx/train-small-q1w2bbb, local://torchx/train-x7f2ccc, local://torchx/train-x7g9ddd",
		"é":     "é-1234, é-12x4",
	} {
		ids := []tracker.RunID{"local://torchx/pretrain-x7f2aaa", "local://torchx/train-x7f2ccc", "local://torchx/train-x7g9ddd", "local://torchx/train-small-q1w2bbb", "s://t/é-1234", "s://t/é-12x4"}
		_, err := tracker.Match(ids, text)
		var several *tracker.AmbiguousError
		if !errors.As(err, &several) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var short []string
		for _, id := range several.Candidates {
			short = append(short, several.Short(id))
			if got, err := tracker.Match(ids, several.Short(id)); err != nil || got != id {
				t.Errorf("%q is short for %s, but means %s, %v", several.Short(id), id, got, err)
			}
		}
		for _, name := range strings.Split(want, ", ") {
			if !slices.Contains(short, name) {
				t.Errorf("%q: %q, want %s", text, short, want)
			}
		}
	}
}

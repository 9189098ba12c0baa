package tracker_test

import (
	"errors"
	"fmt"
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

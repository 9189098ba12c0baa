package tracker_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestOddValues are kept as they are given: TorchX takes all of them.
func TestOddValues(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		tr := tracker.NewFileTracker(s, nil)
		ctx := t.Context()
		long := strings.Repeat("é\x00\n\"", 1<<18)
		m := object("", "an empty key", "a\nb", 1, " ", nil, "nan", math.NaN(), "inf", math.Inf(-1), "long", long, "list", []any{long})
		check(t, tr.AddMetadata(ctx, runA, m))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "a", Path: long, Metadata: m}))
		run, err := tr.Run(ctx, runA)
		check(t, err)
		if got, want := dump(t, run.Metadata), dump(t, m); got != want {
			t.Errorf("%d bytes of metadata became %d", len(want), len(got))
		}
		if len(run.Artifacts) != 1 || run.Artifacts[0].Path != long || dump(t, run.Artifacts[0].Metadata) != dump(t, m) {
			t.Error("the artifact is not as it was")
		}
	})
}

// TestValuesThatJSONCannotHold are refused before anything is written.
func TestValuesThatJSONCannotHold(t *testing.T) {
	s := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	for name, value := range map[string]any{
		"channel": make(chan int), "function": func() {}, "complex": complex(1, 2), "struct": struct{ A int }{1}, "pointer": &struct{}{},
		"not UTF-8": "a\xff", "within a list": []any{1, func() {}}, "within an object": object("a", object("b", make(chan int))),
	} {
		for what, err := range map[string]error{
			"metadata": tr.AddMetadata(t.Context(), runA, object("k", value)),
			"artifact": tr.AddArtifact(t.Context(), runA, tracker.Artifact{Name: "a", Path: "/a", Metadata: object("k", value)}),
			"key":      tr.AddMetadata(t.Context(), runA, object("a\xff", 1)),
		} {
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s in %s: %v", name, what, err)
			}
		}
	}
	if all := objects(t, s); len(all) > 0 {
		t.Errorf("refused input was written: %q", all)
	}
}

// TestClockThatRunsBackwards: within a process what is written last wins, though
// the clock is set back, and by less than the time between two writes, and stays.
func TestClockThatRunsBackwards(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		tr := tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now})
		ctx := t.Context()
		for i, step := range []time.Duration{0, -time.Hour, 0, -time.Nanosecond, time.Minute, -24 * time.Hour} {
			clock.move(step)
			check(t, tr.AddMetadata(ctx, runA, object("i", i)))
			check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "a", Path: strings.Repeat("x", i+1)}))
			n, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{})
			check(t, err)
			run, err := tr.Run(ctx, runA)
			check(t, err)
			if v, _ := run.Metadata.Get("i"); v != int64(i) || len(run.Artifacts[0].Path) != i+1 || n != i+1 || run.State != tracker.Running {
				t.Errorf("after step %d: %v, %+v, attempt %d, %s", i, v, run.Artifacts, n, run.State)
			}
		}
	})
}

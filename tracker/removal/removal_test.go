package removal_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

const (
	parent = tracker.RunID("local://torchx/prepare-aaa")
	run    = tracker.RunID("local://torchx/train-bbb")
	child  = tracker.RunID("local://torchx/evaluate-ccc")
)

// scene is a store with a run, one that it came from, and one that came of it.
type scene struct {
	t       *testing.T
	url     string
	store   *store.Store
	tracker *tracker.FileTracker
	ledger  *removal.Ledger
	now     func() time.Time
}

// newScene opens what is at url, with the interceptor of its requests if there is one.
func newScene(t *testing.T, url string, intercept func(context.Context, store.Request, func() error) error) *scene {
	t.Helper()
	s, err := store.Open(t.Context(), url, &store.Options{Intercept: intercept})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return sceneOn(t, url, s)
}

func sceneOn(t *testing.T, url string, s *store.Store) *scene {
	var mu sync.Mutex
	clock := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Second)
		return clock
	}
	tr := tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), &tracker.Options{Now: now})
	return &scene{t: t, url: url, store: s, tracker: tr, ledger: removal.NewLedger(s, tr, now), now: now}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seed records the three runs and the output of the middle one.
func (s *scene) seed() {
	s.t.Helper()
	ctx := s.t.Context()
	check(s.t, s.tracker.Init(ctx, tracker.InitOptions{}))
	check(s.t, s.tracker.AddMetadata(ctx, parent, pyjson.NewObject(pyjson.Member{Key: "params.rows", Value: int64(3)})))
	n, err := s.tracker.StartAttempt(ctx, run, tracker.AttemptStart{Host: "h"})
	check(s.t, err)
	check(s.t, s.tracker.AddMetadata(ctx, run, pyjson.NewObject(pyjson.Member{Key: "params.lr", Value: 0.1})))
	check(s.t, s.tracker.AddArtifact(ctx, run, tracker.Artifact{Name: "model", Path: "m.bin"}))
	check(s.t, s.tracker.AddSource(ctx, run, tracker.Source{ID: parent, Artifact: "rows"}))
	check(s.t, s.tracker.AddSource(ctx, run, tracker.Source{ID: "clicks@1", Role: tracker.RoleInput}))
	check(s.t, s.tracker.EndAttempt(ctx, run, n, tracker.AttemptEnd{State: tracker.Succeeded}))
	check(s.t, s.tracker.AddMetadata(ctx, run, pyjson.NewObject(pyjson.Member{Key: tracker.KeyState, Value: "SUCCEEDED"})))
	check(s.t, s.tracker.AddSource(ctx, child, tracker.Source{ID: run, Artifact: "model"}))
	for _, name := range []string{"m.bin", "checkpoints/1/data", "checkpoints/1/.metadata", "logs/main/0/1/stdout.log"} {
		check(s.t, s.store.Put(ctx, s.output(name), []byte(name)))
	}
}

func (s *scene) output(name string) store.Key { return s.store.Layout().RunDir(string(run)).Join(name) }

// contents are all objects but those of the ledger.
func (s *scene) contents() map[store.Key]string {
	s.t.Helper()
	all := map[store.Key]string{}
	for o, err := range s.store.List(context.WithoutCancel(s.t.Context()), "") {
		check(s.t, err)
		if strings.HasPrefix(string(o.Key), "heirloom/") {
			continue
		}
		body, err := s.store.Get(s.t.Context(), o.Key)
		check(s.t, err)
		all[o.Key] = string(body)
	}
	return all
}

// shown says whether readers see the run, and complains where they do not agree.
func (s *scene) shown() bool {
	s.t.Helper()
	ctx := s.t.Context()
	seen := map[string]bool{}
	_, err := s.tracker.Run(ctx, run)
	seen["run"] = err == nil
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		s.t.Error(err)
	}
	seen["survey"] = false
	if _, err := s.tracker.Survey(ctx, run); err == nil {
		seen["survey"] = true
	}
	for sv, err := range s.tracker.Surveys(ctx) {
		check(s.t, err)
		seen["surveys"] = seen["surveys"] || sv.ID == run
	}
	for r, err := range s.tracker.Runs(ctx, nil) {
		check(s.t, err)
		seen["runs"] = seen["runs"] || r.ID == run
	}
	set, err := s.tracker.Edges(ctx)
	check(s.t, err)
	seen["edges"] = slices.Contains(set.Runs, run)
	for _, found := range seen {
		if found != seen["run"] {
			s.t.Errorf("readers do not agree: %v", seen)
			break
		}
	}
	return seen["run"]
}

// kin lists the runs that readers take for children.
func (s *scene) kin(of tracker.RunID) []tracker.RunID {
	s.t.Helper()
	var ids []tracker.RunID
	for id, err := range s.tracker.RunIDs(s.t.Context(), of) {
		check(s.t, err)
		ids = append(ids, id)
	}
	return ids
}

func (s *scene) delete() removal.Entry {
	s.t.Helper()
	e, err := s.ledger.Delete(s.t.Context(), run, removal.Why{User: "ann", Reason: "wrong labels"})
	check(s.t, err)
	return e
}

// places are stores to test on.
func places(t *testing.T) map[string]*scene {
	return map[string]*scene{"mem": newScene(t, "mem://", nil), "local": newScene(t, t.TempDir(), nil)}
}

func TestUndoRestoresEveryByte(t *testing.T) {
	for name, s := range places(t) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.seed()
			before := s.contents()
			if !s.shown() || !slices.Equal(s.kin(parent), []tracker.RunID{run}) {
				t.Fatal("the run is not there to begin with")
			}
			e := s.delete()
			if e.Records != 10 || e.Output != 4 || e.Number != 1 {
				t.Errorf("deletion %+v, want the first, of 10 records and 4 files of output", e)
			}
			if s.shown() || len(s.kin(parent)) > 0 {
				t.Error("a deleted run is shown")
			}
			if _, err := s.tracker.Attempts(t.Context(), run); !tracker.IsDeleted(err) {
				t.Errorf("attempts: error %v, want that it was deleted", err)
			}
			if _, err := s.tracker.StartAttempt(t.Context(), run, tracker.AttemptStart{}); !tracker.IsDeleted(err) {
				t.Errorf("a further attempt: error %v, want that it was deleted", err)
			}
			if again := s.delete(); again.Number != 1 || !again.Time.Equal(e.Time) {
				t.Errorf("deleted again: %+v, want the first deletion", again)
			}
			if e, err := s.ledger.Undo(t.Context(), run, "bob"); err != nil || e.Outcome != removal.Restored || e.By != "bob" {
				t.Errorf("undo: %+v, error %v", e, err)
			}
			if !s.shown() || !maps.Equal(s.contents(), before) {
				t.Error("what was restored is not what was deleted")
			}
			if _, err := s.ledger.Undo(t.Context(), run, "bob"); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("undo of what is there: error %v, want ErrNotExist", err)
			}
			if _, err := s.ledger.Purge(t.Context(), run, removal.PurgeOptions{}); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("purge of what is there: error %v, want ErrNotExist", err)
			}
		})
	}
}

func TestPurgeLeavesNothing(t *testing.T) {
	for name, s := range places(t) {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.seed()
			s.delete()
			first := []store.Key{s.output("checkpoints/1/.metadata")}
			gone, err := s.ledger.Purge(t.Context(), run, removal.PurgeOptions{User: "bob", First: first})
			if err != nil || gone.Outcome != removal.Purged || !gone.Done || gone.Left != 0 {
				t.Fatalf("purged %+v, error %v", gone, err)
			}
			for key := range s.contents() {
				if strings.Contains(string(key), run.Encode()) && !strings.Contains(string(key), child.Encode()) || strings.HasPrefix(string(key), "runs/") {
					t.Errorf("%s is left", key)
				}
			}
			for id, err := range s.tracker.RunIDs(t.Context(), "") {
				if check(t, err); id == run {
					t.Error("the directory of the run is left, by which TorchX takes it for one")
				}
			}
			if kin := s.kin(run); !slices.Equal(kin, []tracker.RunID{child}) {
				t.Errorf("the run was used by %v, want still by its child", kin)
			}
			if _, err := s.ledger.Undo(t.Context(), run, ""); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("undo of what is gone: error %v, want ErrNotExist", err)
			}
			if _, err := s.ledger.Delete(t.Context(), run, removal.Why{}); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("deletion of what is gone: error %v, want ErrNotExist", err)
			}
			report, err := s.tracker.Fsck(t.Context(), &tracker.FsckOptions{Grace: -1})
			if err != nil || len(report.Findings) > 0 {
				t.Errorf("fsck finds %v, error %v", report.Findings, err)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	s := newScene(t, "mem://", nil)
	s.seed()
	s.delete()
	_, err := s.ledger.Undo(t.Context(), run, "bob")
	check(t, err)
	_, err = s.ledger.Delete(t.Context(), run, removal.Why{User: "ann", Reason: "see https://x?token=s3cr3t-value"})
	check(t, err)
	open, err := s.ledger.Open(t.Context())
	if err != nil || len(open) != 1 || open[0].Number != 2 || open[0].Noted.IsZero() {
		t.Errorf("open are %+v, error %v, want the second deletion", open, err)
	}
	_, err = s.ledger.Purge(t.Context(), run, removal.PurgeOptions{User: "eve"})
	check(t, err)
	list, err := s.ledger.History(t.Context())
	check(t, err)
	var got []string
	for _, e := range list {
		got = append(got, string(e.Outcome)+" by "+e.By+": "+e.Reason)
	}
	if len(got) != 2 || strings.Contains(got[0], "s3cr3t") || !strings.HasPrefix(got[0], "purged by eve: see ") || got[1] != "restored by bob: wrong labels" {
		t.Errorf("history %q", got)
	}
	for o, err := range s.store.List(t.Context(), "heirloom/deleted/") {
		check(t, err)
		if o.Key.Base() == "files" {
			t.Errorf("%s is left", o.Key)
		}
	}
	if open, err := s.ledger.Open(t.Context()); err != nil || len(open) > 0 {
		t.Errorf("open are %v, error %v, want none", open, err)
	}
	among, err := s.ledger.Among(t.Context(), []tracker.RunID{run, child})
	if err != nil || !among[run] || among[child] {
		t.Errorf("deleted are %v, error %v, want the run alone", among, err)
	}
}

// TestWrittenSince: what is written to a run that is hidden keeps it from being purged.
func TestWrittenSince(t *testing.T) {
	for name, write := range map[string]func(s *scene) error{
		"metadata": func(s *scene) error { return s.tracker.AddMetadata(t.Context(), run, nil) },
		"source":   func(s *scene) error { return s.tracker.AddSource(t.Context(), run, tracker.Source{ID: "late"}) },
		"output":   func(s *scene) error { return s.store.Put(t.Context(), s.output("m.bin"), []byte("other")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "mem://", nil)
			s.seed()
			s.delete()
			check(t, write(s))
			before := s.contents()
			if _, err := s.ledger.Purge(t.Context(), run, removal.PurgeOptions{}); !errors.Is(err, store.ErrConflict) {
				t.Fatalf("error %v, want ErrConflict", err)
			}
			if !maps.Equal(s.contents(), before) {
				t.Error("a refused purge has changed something")
			}
			if e := s.delete(); e.Number != 2 {
				t.Errorf("deleted again as number %d, want 2", e.Number)
			}
			if _, err := s.ledger.Purge(t.Context(), run, removal.PurgeOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

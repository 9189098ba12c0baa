package tracker_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestBadIDs gives ids that no root may hold to every method.
func TestBadIDs(t *testing.T) {
	var seen requests
	s := openStore(t, "mem://", &store.Options{Intercept: seen.intercept})
	tr := tracker.NewFileTracker(s, nil)
	ctx := t.Context()
	for _, id := range []tracker.RunID{"", "a\nb", "\x1b[31m", "a\xff", tracker.RunID(strings.Repeat("x", 156))} {
		calls := map[string]func() error{
			"AddMetadata":  func() error { return tr.AddMetadata(ctx, id, nil) },
			"AddArtifact":  func() error { return tr.AddArtifact(ctx, id, tracker.Artifact{Name: "a"}) },
			"AddSource":    func() error { return tr.AddSource(ctx, id, tracker.Source{ID: runA}) },
			"source id":    func() error { return tr.AddSource(ctx, runA, tracker.Source{ID: id}) },
			"Metadata":     func() error { _, err := tr.Metadata(ctx, id); return err },
			"Artifacts":    func() error { _, err := tr.Artifacts(ctx, id); return err },
			"Sources":      func() error { _, err := tr.Sources(ctx, id, ""); return err },
			"Lineage":      func() error { _, err := tr.Lineage(ctx, id); return err },
			"Run":          func() error { _, err := tr.Run(ctx, id); return err },
			"StartAttempt": func() error { _, err := tr.StartAttempt(ctx, id, tracker.AttemptStart{}); return err },
			"Beat":         func() error { return tr.Beat(ctx, id, 1) },
			"EndAttempt":   func() error { return tr.EndAttempt(ctx, id, 1, tracker.AttemptEnd{State: tracker.Failed}) },
			"Find":         func() error { _, err := tr.Find(ctx, string(id)); return err },
		}
		for name, call := range calls {
			err := call()
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("%s of %q: %v", name, id, err)
			} else if !utf8.ValidString(err.Error()) || strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 600 {
				t.Errorf("%s of %q: the error itself is unfit to print: %q", name, id, err)
			}
		}
	}
	if got := seen.take(); len(got) > 0 {
		t.Errorf("requests were made: %q", got)
	}
}

func TestBadNames(t *testing.T) {
	s := openStore(t, "mem://", nil)
	tr := tracker.NewFileTracker(s, nil)
	ctx := t.Context()
	for _, name := range []string{"a\nb", "a\rb", " a", "a\u00a0", "a\x7f", "\xff"} {
		if err := tr.AddArtifact(ctx, runA, tracker.Artifact{Name: name, Path: "/p"}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("artifact %q: %v", name, err)
		}
		if err := tr.AddSource(ctx, runA, tracker.Source{ID: runB, Artifact: name}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("link to %q: %v", name, err)
		}
	}
	if err := tr.AddArtifact(ctx, runA, tracker.Artifact{Path: "/p"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("artifact without a name: %v", err)
	}
	long := strings.Repeat("x", 156)
	if err := tr.AddSource(ctx, runA, tracker.Source{ID: runB, Artifact: long}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("link to a long name: %v", err)
	}
	check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: long, Path: "/p"}))
	if err := tr.AddArtifact(ctx, runA, tracker.Artifact{Name: strings.Repeat("x", 1025)}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("artifact with a very long name: %v", err)
	}
	if err := tr.AddMetadata(ctx, runA, object("a", struct{}{})); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("metadata that JSON cannot hold: %v", err)
	}
	if all := objects(t, s); len(all) != 1 {
		t.Errorf("refused input was written: %q", all)
	}
}

func TestBadAttempts(t *testing.T) {
	tr := tracker.NewFileTracker(openStore(t, "mem://", nil), nil)
	for _, n := range []int{-1, 0, 1_000_000} {
		if err := tr.Beat(t.Context(), runA, n); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("beat of attempt %d: %v", n, err)
		}
	}
	for _, state := range []tracker.State{"", tracker.Running, tracker.Lost, "DONE"} {
		if err := tr.EndAttempt(t.Context(), runA, 1, tracker.AttemptEnd{State: state}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("end in state %q: %v", state, err)
		}
	}
}

// TestBadRecords reads a run in which one object of each sort is damaged: it is
// named, and the rest is there.
func TestBadRecords(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		var told warnings
		tr := tracker.NewFileTracker(s, &tracker.Options{Warn: told.add})
		ctx := t.Context()
		check(t, tr.AddMetadata(ctx, runA, object("good", 1)))
		check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "good", Path: "/p"}))
		check(t, tr.AddSource(ctx, runA, tracker.Source{ID: runB, Artifact: "good"}))
		n, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{})
		check(t, err)
		bad := map[string]string{
			"metadata/1":                             `{"metadata": {"o": `,
			"metadata/2":                             `{"other": {}}`,
			"metadata/3":                             `{"metadata": []}`,
			"metadata/4":                             ``,
			"metadata/.hidden":                       `{"metadata": {"x": 1}}`,
			"metadata/5-":                            `{"metadata": {"x": 1}}`,
			"metadata/deep/6":                        `{"metadata": {"x": 1}}`,
			"artifacts/1":                            `[]`,
			"artifacts/2":                            `{"path": "/p", "metadata": null}`,
			"artifacts/3":                            `{"name": [], "path": "/p", "metadata": null}`,
			"artifacts/4":                            `{"name": "n", "path": "/p", "metadata": 1}`,
			"artifacts/latest":                       `{"name": "n", "path": "/p", "metadata": null}`,
			"sources/notes.txt":                      "x\n",
			"descendants/me======":                   "x\n",
			"README":                                 "hello",
			"heirloom/links/x/=":                     `{}`,
			"heirloom/links/" + runB.Encode() + "/x": `{}`,
			"heirloom/links/" + runB.Encode() + "/ME======": `{`,
			"heirloom/attempts/1/start":                     `{}`,
			"heirloom/attempts/000002/start":                `{}`,
			"heirloom/attempts/000002/beat":                 `[]`,
			"heirloom/attempts/000002/end":                  `{"state": "DONE"}`,
		}
		for name, body := range bad {
			put(t, s, key(runA, name), body)
		}
		put(t, s, key(runA, "heirloom/attempts/000002/later"), "of a later version")
		put(t, s, key(runA, "heirloom/later/x"), "of a later version")

		run, err := tr.Run(ctx, runA)
		check(t, err)
		if dump(t, run.Metadata) != `{"good": 1}` || len(run.Artifacts) != 1 || n != 1 {
			t.Errorf("run %+v", run)
		}
		same(t, "sources", links(run.Sources), []string{string(runB) + "#a", string(runB) + "#good"})
		if run.State != tracker.Unknown || len(run.Attempts) != 2 || run.Attempts[1].End == nil {
			t.Errorf("state %s, attempts %+v", run.State, run.Attempts)
		}
		var named []string
		for _, w := range run.Warnings {
			named = append(named, strings.TrimPrefix(string(w.Key), runA.Encode()+"/"))
			if w.Reason == "" {
				t.Errorf("no reason for %s", w.Key)
			}
		}
		want := slices.Sorted(maps.Keys(bad))
		same(t, "warnings", named, want)
		if got := told.take(); len(got) != len(want) {
			t.Errorf("told of %d faults: %q", len(got), got)
		}
	})
}

// TestForeignRoot has things beside the runs.
func TestForeignRoot(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		var told warnings
		tr := tracker.NewFileTracker(s, &tracker.Options{Warn: told.add})
		ctx := t.Context()
		check(t, tr.AddMetadata(ctx, runA, object("a", 1)))
		put(t, s, "lost+found/x", "?")
		put(t, s, "lost+found/y", "?")
		put(t, s, "metadata/1", `{"metadata": {}}`) // what TorchX makes of an empty id
		put(t, s, "tracker.conf", "protocol=file")
		want := []string{"lost+found: not the directory of a run", "metadata: not the directory of a run"}
		same(t, "ids", ids(t, tr, ""), []string{string(runA)})
		same(t, "told by RunIDs", told.take(), want)
		for run, err := range tr.Runs(ctx, nil) {
			check(t, err)
			if run.ID != runA {
				t.Errorf("run %s", run.ID)
			}
		}
		same(t, "told by Runs", told.take(), want)
		set, err := tr.Edges(ctx)
		check(t, err)
		if len(set.Warnings) != 2 {
			t.Errorf("warnings of Edges: %v", set.Warnings)
		}
	})
}

func TestNewerRoot(t *testing.T) {
	tests := []struct{ name, body, read, write string }{
		{"newer", `{"format": 2, "oldest_writer": 2}`, "made in format 2, and this heirloom reads up to format 1: use a newer heirloom", "format 2"},
		{"no longer ours to write", `{"format": 1, "oldest_writer": 3}`, "", "takes writers of format 3 or later"},
		{"fields of a later version", `{"format": 1, "oldest_writer": 1, "more": true}`, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, "mem://", nil)
			put(t, s, "heirloom.json", test.body)
			put(t, s, key(runA, "metadata", "1"), `{"metadata": {"a": 1}}`)
			tr := tracker.NewFileTracker(s, nil)
			ctx := t.Context()
			for name, read := range map[string]func() error{
				"Format":    func() error { _, err := tr.Format(ctx); return err },
				"Run":       func() error { _, err := tr.Run(ctx, runA); return err },
				"Metadata":  func() error { _, err := tr.Metadata(ctx, runA); return err },
				"Artifacts": func() error { _, err := tr.Artifacts(ctx, runA); return err },
				"Sources":   func() error { _, err := tr.Sources(ctx, runA, ""); return err },
				"Lineage":   func() error { _, err := tr.Lineage(ctx, runA); return err },
				"Edges":     func() error { _, err := tr.Edges(ctx); return err },
				"Find":      func() error { _, err := tr.Find(ctx, string(runA)); return err },
				"RunIDs":    func() error { return lastError(tr.RunIDs(ctx, "")) },
				"children":  func() error { return lastError(tr.RunIDs(ctx, runB)) },
				"Runs":      func() error { return lastError(tr.Runs(ctx, nil)) },
			} {
				refused(t, name, read(), test.read)
			}
			before := objects(t, s)
			for name, write := range map[string]func() error{
				"AddMetadata":  func() error { return tr.AddMetadata(ctx, runA, nil) },
				"AddArtifact":  func() error { return tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "a"}) },
				"AddSource":    func() error { return tr.AddSource(ctx, runA, tracker.Source{ID: runB}) },
				"StartAttempt": func() error { _, err := tr.StartAttempt(ctx, runA, tracker.AttemptStart{}); return err },
				"Beat":         func() error { return tr.Beat(ctx, runA, 1) },
				"EndAttempt":   func() error { return tr.EndAttempt(ctx, runA, 1, tracker.AttemptEnd{State: tracker.Failed}) },
				"Init":         func() error { return tr.Init(ctx, tracker.InitOptions{}) },
			} {
				refused(t, name, write(), test.write)
			}
			if test.write != "" {
				sameMap(t, "root after refused writes", objects(t, s), before)
			}
		})
	}
}

func refused(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case want == "":
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	case !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), want):
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

func TestDamagedFormat(t *testing.T) {
	for _, body := range []string{"", "{", "[]", `{}`, `{"format": "1"}`, `{"format": 0, "oldest_writer": 1}`, `{"format": 1e9, "oldest_writer": 1}`} {
		s := openStore(t, "mem://", nil)
		put(t, s, "heirloom.json", body)
		_, err := tracker.NewFileTracker(s, nil).Format(t.Context())
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "heirloom.json") {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestInit(t *testing.T) {
	onEach(t, func(t *testing.T, s *store.Store) {
		clock := newWall()
		ctx := t.Context()
		open := func() *tracker.FileTracker {
			return tracker.NewFileTracker(s, &tracker.Options{Now: clock.Now, Writer: "w"})
		}
		f, err := open().Format(ctx)
		if err != nil || f != (tracker.Format{}) {
			t.Errorf("fresh root: %+v, %v", f, err)
		}
		check(t, open().Init(ctx, tracker.InitOptions{}))
		clock.move(time.Hour)
		tr := open()
		check(t, tr.Init(ctx, tracker.InitOptions{}))
		f, err = tr.Format(ctx)
		want := tracker.Format{Version: 1, OldestWriter: 1, Created: newWall().Now(), Writer: "w"}
		if err != nil || f != want {
			t.Errorf("format %+v, %v", f, err)
		}
		if err := open().Init(ctx, tracker.InitOptions{Shared: true}); !errors.Is(err, store.ErrExist) {
			t.Errorf("shared, where it is not: %v", err)
		}
	})
}

func TestCancelled(t *testing.T) {
	tr := tracker.NewFileTracker(openStore(t, t.TempDir(), nil), nil)
	check(t, tr.AddMetadata(t.Context(), runA, object("a", 1)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tr.AddMetadata(ctx, runA, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if _, err := tr.Run(ctx, runA); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
}

package tracker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// failing is a tracker where reading the metadata and the end of an attempt
// fails with this kind.
func failing(t *testing.T, kind error) *tracker.FileTracker {
	t.Helper()
	armed := false
	s := openStore(t, "mem://", &store.Options{MaxAttempts: 1, Intercept: func(_ context.Context, q store.Request, do func() error) error {
		if armed && q.Op == "get" && (strings.Contains(q.Key, "/metadata/") || strings.HasSuffix(q.Key, "/end")) {
			return &store.Error{Op: "get", Key: q.Key, Kind: kind}
		}
		return do()
	}})
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.AddMetadata(t.Context(), runA, object("a", 1)))
	check(t, tr.AddArtifact(t.Context(), runA, tracker.Artifact{Name: "m", Path: "/m"}))
	n, err := tr.StartAttempt(t.Context(), runA, tracker.AttemptStart{})
	check(t, err)
	check(t, tr.EndAttempt(t.Context(), runA, n, tracker.AttemptEnd{State: tracker.Succeeded}))
	armed = true
	return tr
}

// TestOneRecordUnreadable meets a record that is another user's, was taken away
// since the listing, or is damaged: the rest is told.
func TestOneRecordUnreadable(t *testing.T) {
	for _, kind := range []error{store.ErrPermission, store.ErrNotExist, store.ErrCorrupt} {
		tr := failing(t, kind)
		run, err := tr.Run(t.Context(), runA)
		if err != nil {
			t.Errorf("%v: %v", kind, err)
			continue
		}
		if run.State != tracker.Unknown {
			t.Errorf("%v: an end that cannot be read is taken for %s", kind, run.State)
		}
		if len(run.Warnings) != 2 || run.Metadata.Len() != 0 || len(run.Artifacts) != 1 {
			t.Errorf("%v: run %+v", kind, run)
		}
	}
}

// TestUnreadableTextFile still tells of the edge, which the name of the file says.
func TestUnreadableTextFile(t *testing.T) {
	armed := false
	s := openStore(t, "mem://", &store.Options{Intercept: func(_ context.Context, q store.Request, do func() error) error {
		if armed && q.Op == "get" && strings.Contains(q.Key, "/sources/") {
			return &store.Error{Op: "get", Key: q.Key, Kind: store.ErrPermission}
		}
		return do()
	}})
	tr := tracker.NewFileTracker(s, nil)
	put(t, s, key(runB, "sources", runA.Encode()), "m\n")
	check(t, tr.AddSource(t.Context(), runB, tracker.Source{ID: runC, Artifact: "m"}))
	armed = true
	run, err := tr.Run(t.Context(), runB)
	check(t, err)
	same(t, "sources", links(run.Sources), []string{string(runC) + "#m", string(runA)})
	if len(run.Warnings) != 2 {
		t.Errorf("warnings %v", run.Warnings)
	}
}

// TestUnavailableIsNoAnswer must not let a part pass for the whole.
func TestUnavailableIsNoAnswer(t *testing.T) {
	for _, kind := range []error{store.ErrUnavailable, nil} {
		tr := failing(t, kind)
		_, failed := tr.Run(t.Context(), runA)
		_, metadata := tr.Metadata(t.Context(), runA)
		for name, err := range map[string]error{"Run": failed, "Metadata": metadata, "Runs": lastError(tr.Runs(t.Context(), nil))} {
			if err == nil || kind != nil && !errors.Is(err, kind) {
				t.Errorf("%s with %v: %v", name, kind, err)
			}
		}
	}
}

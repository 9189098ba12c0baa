package tracker_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestRequests counts what each operation costs, after the one request in which
// a tracker looks at the format of its root.
func TestRequests(t *testing.T) {
	linkA := "create " + key(runB, "heirloom/links", runA.Encode(), "=")
	sourcesA := " " + key(runB, "sources", runA.Encode())
	mirrorA := " " + key(runA, "descendants", runB.Encode())
	exists := "list " + key(runA) + "/"
	links := "list " + key(runB, "heirloom/links", runA.Encode()) + "/"
	want := map[string][]string{
		// A lock and one append for each text file, the first beside the link.
		"local": {linkA, "append" + sourcesA, exists, "append" + mirrorA},
		// Neither append nor compare-and-swap: each file is put and then looked at again.
		"mem": {linkA,
			"get" + sourcesA, links, "put" + sourcesA, "get" + sourcesA, links,
			exists,
			"get" + mirrorA, links, "put" + mirrorA, "get" + mirrorA, links},
	}
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			var seen requests
			s := openStore(t, p.url, &store.Options{Intercept: seen.intercept})
			tr := tracker.NewFileTracker(s, nil)
			ctx := t.Context()
			_, err := tr.Format(ctx)
			check(t, err)
			same(t, "format", seen.take(), []string{"get heirloom.json"})

			check(t, tr.AddMetadata(ctx, runA, object("a", 1)))
			sameOps(t, "metadata", seen.take(), map[string]int{"put": 1})
			check(t, tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "m", Path: "/m"}))
			sameOps(t, "artifact", seen.take(), map[string]int{"put": 1})
			check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA}))
			same(t, "source", inOrder(seen.take(), p.name), inOrder(want[p.name], p.name))

			_, err = tr.StartAttempt(ctx, runA, tracker.AttemptStart{})
			check(t, err)
			sameOps(t, "start", seen.take(), map[string]int{"list": 1, "create": 1})
			check(t, tr.Beat(ctx, runA, 1))
			sameOps(t, "beat", seen.take(), map[string]int{"put": 1})
			check(t, tr.EndAttempt(ctx, runA, 1, tracker.AttemptEnd{State: tracker.Succeeded}))
			sameOps(t, "end", seen.take(), map[string]int{"create": 1})

			_, err = tr.Run(ctx, runA)
			check(t, err)
			sameOps(t, "run", seen.take(), map[string]int{"list": 1, "get": 5})
			_, err = tr.Metadata(ctx, runA)
			check(t, err)
			sameOps(t, "read metadata", seen.take(), map[string]int{"list": 1, "get": 1})
			_, err = tr.Edges(ctx)
			check(t, err)
			sameOps(t, "edges", seen.take(), map[string]int{"list": 1, "get": 1})
			ids(t, tr, "")
			sameOps(t, "ids", seen.take(), map[string]int{"list": 1})
			ids(t, tr, runA)
			sameOps(t, "ids of a parent", seen.take(), map[string]int{"list": 1})
			_, err = tr.Find(ctx, "train")
			check(t, err)
			sameOps(t, "find a part", seen.take(), map[string]int{"list": 1})
			_, err = tr.Find(ctx, string(runA))
			check(t, err)
			same(t, "find an id", seen.take(), []string{exists})
		})
	}
}

// inOrder sorts the requests of AddSource where its first two are made side by
// side, which is on a local disk.
func inOrder(list []string, place string) []string {
	if place == "local" && len(list) > 1 {
		slices.Sort(list[:2])
	}
	return list
}

// TestListsByTheThousand lists 2,500 runs in three requests.
func TestListsByTheThousand(t *testing.T) {
	var seen requests
	s := openStore(t, "mem://", &store.Options{Intercept: seen.intercept})
	tr := tracker.NewFileTracker(s, nil)
	for _, id := range numbered("r%04d", 2500) {
		check(t, tr.AddMetadata(t.Context(), tracker.RunID(id), nil))
	}
	seen.take()
	if got := ids(t, tr, ""); len(got) != 2500 {
		t.Errorf("%d runs", len(got))
	}
	sameOps(t, "ids", seen.take(), map[string]int{"list": 3})
}

// TestChildrenByTheThousand finds the children among 2,500 runs, each of which
// has a parent, by listings alone: one for each 1,000 objects and none per run.
func TestChildrenByTheThousand(t *testing.T) {
	var seen requests
	s := openStore(t, "mem://", &store.Options{Intercept: seen.intercept})
	tr := tracker.NewFileTracker(s, nil)
	children := 0
	for i, id := range numbered("r%04d", 2500) {
		parent := runA
		if i%10 > 0 {
			parent = runB
		} else {
			children++
		}
		put(t, s, key(tracker.RunID(id), "metadata", "1"), `{"metadata": {}}`)
		put(t, s, key(tracker.RunID(id), "sources", parent.Encode()), "\n")
	}
	seen.take()
	if got := ids(t, tr, runA); len(got) != children {
		t.Errorf("%d children, want %d", len(got), children)
	}
	sameOps(t, "ids of a parent", seen.take(), map[string]int{"get": 1, "list": 5})
	if got := ids(t, tr, runA); len(got) != children {
		t.Errorf("%d children, want %d", len(got), children)
	}
	sameOps(t, "ids of a parent, once the format is known", seen.take(), map[string]int{"list": 5})
}

// TestReadersDoNotWrite runs every read on a root with faults to repair.
func TestReadersDoNotWrite(t *testing.T) {
	var seen requests
	s := openStore(t, "mem://", &store.Options{Intercept: seen.intercept})
	tr := tracker.NewFileTracker(s, nil)
	ctx := t.Context()
	put(t, s, key(runA, "metadata", "1"), "{")
	put(t, s, key(runB, "sources", runA.Encode()), "torn")
	put(t, s, key(runB, "heirloom/links", runA.Encode(), b32("tornado")), "{}")
	seen.take()
	_, err := tr.Run(ctx, runB)
	check(t, err)
	_, err = tr.Lineage(ctx, runA)
	check(t, err)
	_, err = tr.Edges(ctx)
	check(t, err)
	_, err = tr.Find(ctx, "train")
	check(t, err)
	for _, err := range tr.Runs(ctx, nil) {
		check(t, err)
	}
	for op := range ops(seen.take()) {
		if op != "get" && op != "list" {
			t.Errorf("a reader made a request %s", op)
		}
	}
}

// cut lets some requests through and fails the rest. Below zero it lets all
// through.
type cut struct {
	requests
	left atomic.Int64
	err  error
}

func (c *cut) intercept(ctx context.Context, q store.Request, do func() error) error {
	if c.left.Add(-1) == -1 {
		c.left.Store(0)
		return c.err
	}
	return c.requests.intercept(ctx, q, do)
}

// TestLinkFirst breaks off after each request of AddSource: from the first on
// the edge is there, and to repeat the call completes the rest.
func TestLinkFirst(t *testing.T) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) {
			count := 100
			for n := 1; n < count; n++ {
				count = linkFirst(t, p.name, n)
			}
			if count < 4 {
				t.Errorf("AddSource took %d requests", count)
			}
		})
	}
}

// linkFirst breaks off after n requests and returns how many it takes in all.
func linkFirst(t *testing.T, name string, n int) int {
	t.Helper()
	url := "mem://"
	if name == "local" {
		url = t.TempDir()
	}
	c := &cut{err: errors.New("pulled the plug")}
	c.left.Store(-1)
	s := openStore(t, url, &store.Options{Intercept: c.intercept})
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.AddMetadata(t.Context(), runA, nil))
	c.take()
	c.left.Store(int64(n))
	source := tracker.Source{ID: runA, Artifact: "m"}
	err := tr.AddSource(t.Context(), runB, source)
	if c.left.Load() > 0 {
		return n
	}
	c.left.Store(-1)
	if err != nil && !errors.Is(err, c.err) {
		t.Fatalf("after %d requests: %v", n, err)
	}
	// A line by itself tells of the edge too, and is written beside the link.
	if got := c.take(); !strings.HasPrefix(got[0], "create ") && (name != "local" || !strings.HasPrefix(got[0], "append ")) {
		t.Errorf("the first request is %s", got[0])
	}
	got, err := tr.Sources(t.Context(), runB, "")
	check(t, err)
	same(t, "sources", links(got), []string{string(runA) + "#m"})
	check(t, tr.AddSource(t.Context(), runB, source))
	all := objects(t, s)
	for _, file := range []string{key(runB, "sources", runA.Encode()), key(runA, "descendants", runB.Encode())} {
		if all[file] != "m\n" {
			t.Errorf("after %d requests and a repetition %s holds %q", n, file, all[file])
		}
	}
	return 100
}

func sameOps(t *testing.T, what string, got []string, want map[string]int) {
	t.Helper()
	if !maps.Equal(ops(got), want) {
		t.Errorf("%s: requests %q, want %v", what, got, want)
	}
}

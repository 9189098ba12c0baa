package tracker_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestManyProcesses adds links to one source of one run from several processes,
// half of them links that all add: under load 1,000 from each of 64, for which two
// minutes of the processor have to do.
func TestManyProcesses(t *testing.T) {
	root := t.TempDir()
	s := openStore(t, root, nil)
	check(t, tracker.NewFileTracker(s, nil).AddMetadata(t.Context(), runA, nil))
	processes := numbered("p%d", max(4, storetest.Rounds(64)))
	each := storetest.Rounds(500)
	var took atomic.Int64
	var group errgroup.Group
	for _, p := range processes {
		group.Go(func() error {
			cmd := helper(t, "link", root, p, strconv.Itoa(each))
			err := cmd.Run()
			took.Add(int64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()))
			return err
		})
	}
	check(t, group.Wait())
	if took := time.Duration(took.Load()); took > 2*time.Minute {
		t.Errorf("%d processes took %v for %d links each", len(processes), took, 2*each)
	}
	allLinked(t, s, processes, each)
}

// TestManyGoroutines does the same within one process, wherever text files are
// kept in another way: two trackers, each shared by half of the writers.
func TestManyGoroutines(t *testing.T) {
	onEach(t, manyGoroutines)
	t.Run("s3", func(t *testing.T) {
		manyGoroutines(t, openStore(t, servers.MinIO(t).URL("tracker"), nil))
	})
	t.Run("gcs", func(t *testing.T) {
		manyGoroutines(t, openStore(t, servers.FakeGCS(t).URL("tracker"), nil))
	})
}

func manyGoroutines(t *testing.T, s *store.Store) {
	check(t, tracker.NewFileTracker(s, nil).AddMetadata(t.Context(), runA, nil))
	processes := numbered("g%d", 8)
	each := storetest.Rounds(100)
	var group errgroup.Group
	trackers := []*tracker.FileTracker{tracker.NewFileTracker(s, nil), tracker.NewFileTracker(s, nil)}
	for i, p := range processes {
		group.Go(func() error { return linkAll(t.Context(), trackers[i%2], p, each) })
	}
	check(t, group.Wait())
	allLinked(t, s, processes, each)
}

// allLinked looks for the links of linkAll in all three places.
func allLinked(t *testing.T, s *store.Store, processes []string, each int) {
	t.Helper()
	want := map[string]bool{}
	for _, p := range append(processes, "all") {
		for _, name := range numbered(p+"-%d", each) {
			want[name] = true
		}
	}
	list, err := tracker.NewFileTracker(s, nil).Sources(t.Context(), runB, "")
	check(t, err)
	var names []string
	for _, source := range list {
		names = append(names, source.Artifact)
	}
	same(t, "links", names, slices.Sorted(maps.Keys(want)))
	for _, file := range []string{key(runB, "sources", runA.Encode()), key(runA, "descendants", runB.Encode())} {
		body, err := s.Get(t.Context(), store.Key(file))
		check(t, err)
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		slices.Sort(lines)
		same(t, file, lines, slices.Sorted(maps.Keys(want)))
		if !strings.HasSuffix(string(body), "\n") {
			t.Errorf("%s ends within a line", file)
		}
	}
}

// TestRequestsOnS3 counts a new link where text files are replaced under a
// condition: eight requests, and seven if nobody tracks the parent's children.
func TestRequestsOnS3(t *testing.T) {
	var seen requests
	s := openStore(t, servers.MinIO(t).URL("tracker"), &store.Options{Intercept: seen.intercept})
	tr := tracker.NewFileTracker(s, nil)
	ctx := t.Context()
	check(t, tr.AddMetadata(ctx, runA, nil))
	seen.take()
	check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "m"}))
	same(t, "a new link", seen.take(), []string{
		"create " + key(runB, "heirloom/links", runA.Encode(), b32("m")),
		"get " + key(runB, "sources", runA.Encode()),
		"list " + key(runB, "heirloom/links", runA.Encode()) + "/",
		"create " + key(runB, "sources", runA.Encode()),
		"list " + key(runA) + "/",
		"get " + key(runA, "descendants", runB.Encode()),
		"list " + key(runB, "heirloom/links", runA.Encode()) + "/",
		"create " + key(runA, "descendants", runB.Encode()),
	})
	again := map[string]int{"create": 1, "get": 2, "put": 2, "list": 1}
	check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "n"}))
	sameOps(t, "another link of the same process", seen.take(), again)
	put(t, s, key(runB, "sources", runA.Encode()), "theirs\n")
	put(t, s, key(runA, "descendants", runB.Encode()), "m\nn\ntheirs\n")
	seen.take()
	again["list"] = 3
	check(t, tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "o"}))
	sameOps(t, "a link after others changed both files", seen.take(), again)
	body, err := s.Get(ctx, store.Key(key(runB, "sources", runA.Encode())))
	check(t, err)
	if lines := strings.Fields(string(body)); len(lines) != 4 {
		t.Errorf("after others had put their own, the file holds %q", lines)
	}
	seen.take()
	check(t, tr.AddSource(ctx, runB, tracker.Source{ID: "elsewhere"}))
	sameOps(t, "a source that is no run", seen.take(), map[string]int{"create": 2, "get": 1, "list": 2})
	check(t, tr.AddArtifact(ctx, runB, tracker.Artifact{Name: "m", Path: "/m"}))
	sameOps(t, "an artifact", seen.take(), map[string]int{"put": 1})
	_, err = tr.Run(ctx, runB)
	check(t, err)
	sameOps(t, "a run", seen.take(), map[string]int{"list": 1, "get": 7})
}

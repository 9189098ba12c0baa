package tracker_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestManyWriters has processes record metadata, artifacts and links to one
// source in one run at the same time: under load 64 of them 1,000 facts each.
// Each fact that was acknowledged is read back, also by TorchX where it can.
func TestManyWriters(t *testing.T) {
	const torch, fs = "torchx==0.7.0", "fsspec==2026.9.0"
	t.Run("local", func(t *testing.T) {
		root := t.TempDir()
		sameInTorchX(t, manyWriters(t, root, 1000), serve(t, "file", object(), torch, fs), root, 2)
	})
	t.Run("s3", func(t *testing.T) {
		server := servers.MinIO(t)
		tr, url := manyWriters(t, server.URL("many"), 1000), plain(server.URL("many"))
		sameInTorchX(t, tr, serve(t, "s3", fsspecOptions(t, server.URL("")), torch, fs, "s3fs==2026.9.0"), url, 2)
	})
	t.Run("gcs", func(t *testing.T) { manyWriters(t, emulator()(t).URL("many"), 1000) })
	t.Run("hdfs", func(t *testing.T) { manyWriters(t, servers.Hadoop(t, nil).URL("many"), 1000) })
}

// emulator is one that bears what is recorded under load.
func emulator() func(testing.TB) servers.GCS {
	if storetest.Rounds(2) == 1 {
		return servers.FakeGCS
	}
	return servers.FakeGCSForMany
}

func manyWriters(t *testing.T, url string, facts int) *tracker.FileTracker {
	t.Helper()
	s := openStore(t, url, nil)
	tr := tracker.NewFileTracker(s, nil)
	check(t, tr.Init(t.Context(), tracker.InitOptions{}))
	check(t, tr.AddMetadata(t.Context(), runA, nil))
	processes, each := max(8, storetest.Rounds(64)), storetest.Rounds(facts)
	told := make([]string, processes)
	begun := time.Now()
	var group errgroup.Group
	for i := range processes {
		group.Go(func() error {
			out, err := helper(t, "mix", url, fmt.Sprint("p", i), strconv.Itoa(each)).Output()
			told[i] = string(out)
			return err
		})
	}
	check(t, group.Wait())
	t.Logf("%d processes recorded %d facts each in %v", processes, each, time.Since(begun).Round(time.Millisecond))
	acknowledged := strings.Fields(strings.Join(told, ""))
	slices.Sort(acknowledged)
	if len(acknowledged) != processes*each {
		t.Errorf("%d facts were acknowledged, want %d", len(acknowledged), processes*each)
	}
	run, err := tr.Run(t.Context(), runB)
	check(t, err)
	same(t, "facts", factsOf(run), acknowledged)
	if len(run.Warnings) > 0 {
		t.Errorf("warnings %v", run.Warnings)
	}
	for _, file := range []string{key(runB, "sources", runA.Encode()), key(runA, "descendants", runB.Encode())} {
		sameLines(t, s, file, run.Sources)
	}
	return tr
}

// factsOf lists what mix recorded as it told of it.
func factsOf(run *tracker.Run) []string {
	var list []string
	for key := range run.Metadata.All() {
		list = append(list, "metadata/"+key)
	}
	for _, a := range run.Artifacts {
		list = append(list, "artifact/"+a.Name)
	}
	for _, s := range run.Sources {
		list = append(list, "source/"+s.Artifact)
	}
	slices.Sort(list)
	return list
}

// sameLines wants each link once in a text file of TorchX's.
func sameLines(t *testing.T, s *store.Store, file string, sources []tracker.Source) {
	t.Helper()
	body, err := s.Get(t.Context(), store.Key(file))
	check(t, err)
	got, want := strings.Split(string(body), "\n"), []string{""} // behind the last end of line
	for _, source := range sources {
		want = append(want, source.Artifact)
	}
	slices.Sort(got)
	slices.Sort(want)
	same(t, file, got, want)
}

// addMixed records facts of all kinds in turn, and tells of each that it is kept.
func addMixed(ctx context.Context, tr *tracker.FileTracker, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for i := range n {
		name, kind := fmt.Sprint(args[0], "-", i), ""
		switch i % 3 {
		case 0:
			kind, err = "metadata", tr.AddMetadata(ctx, runB, object(name, i))
		case 1:
			kind, err = "artifact", tr.AddArtifact(ctx, runB, tracker.Artifact{Name: name, Path: "/" + name, Metadata: object("i", i)})
		case 2:
			kind, err = "source", tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: name})
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", kind, name, err)
		}
		fmt.Println(kind + "/" + name)
	}
	return nil
}

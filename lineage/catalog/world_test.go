package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// world is a store with a tracker, and an index of it.
type world struct {
	testing.TB
	store   *store.Store
	tracker *tracker.FileTracker
	index   *index.Index
}

// later is when all that a test wrote is older than the uncertainty of a listing.
func later() time.Time { return time.Now().Add(time.Hour) }

func open(t testing.TB, url string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newWorld(t testing.TB, s *store.Store) *world {
	t.Helper()
	w := &world{TB: t, store: s, tracker: tracker.NewFileTracker(s.Sub(s.Layout().Tracker()), nil)}
	w.index = w.newIndex()
	return w
}

func (w *world) newIndex() *index.Index {
	w.Helper()
	x, err := index.Open(w.Context(), w.tracker, index.Options{Dir: w.TempDir(), Now: later})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { x.Close() })
	return x
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func runID(i int) tracker.RunID { return tracker.RunID(fmt.Sprintf("local://torchx/run-%03d", i)) }

// link records that one run used another.
func (w *world) link(to, from int) {
	w.Helper()
	w.must(w.tracker.AddSource(w.Context(), runID(to), tracker.Source{ID: runID(from), Artifact: []string{"", "model"}[from%2]}))
}

// describe records metadata of every type, an artifact and an attempt.
func (w *world) describe(i int) {
	w.Helper()
	ctx, run := w.Context(), runID(i)
	_, err := w.tracker.StartAttempt(ctx, run, tracker.AttemptStart{Host: "h", Command: []string{"python", "train.py"}})
	w.must(err)
	code := 0
	w.must(w.tracker.EndAttempt(ctx, run, 1, tracker.AttemptEnd{State: tracker.Succeeded, ExitCode: &code}))
	m := &tracker.Metadata{}
	for key, value := range map[string]any{
		"params.n": int64(i), "params.lr": 0.5, "params.on": true, "params.text": "ü \x1b[31m'\"", "params.like": "1e3", "params.none": nil,
		"params.list": []any{int64(1), "a"}, "params.object": pyjson.NewObject(pyjson.Member{Key: "a", Value: 1.5}), "heirloom.user": "ann", "heirloom.exit_code": int64(0),
	} {
		m.Set(key, value)
	}
	w.must(w.tracker.AddMetadata(ctx, run, m))
	about := pyjson.NewObject(pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(i)}, pyjson.Member{Key: tracker.KeyKind, Value: "model"})
	w.must(w.tracker.AddArtifact(ctx, run, tracker.Artifact{Name: "model", Path: "s3://b/model-" + fmt.Sprint(i), Metadata: about}))
}

// random records a graph of n runs with inputs, cycles, parents that nobody recorded, and inputs that a run made.
func (w *world) random(seed uint64, n int) {
	w.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	for i := range n {
		w.describe(i)
	}
	for range n * 3 / 2 {
		if a, b := random.IntN(n), random.IntN(n+2); a != b { // run n and n+1 are not recorded
			w.link(a, b)
		}
	}
	for range n / 2 {
		input := tracker.Source{Name: "clicks", Version: fmt.Sprint(random.IntN(3)), Digest: "d"}
		if random.IntN(2) == 0 {
			input = tracker.Source{URI: fmt.Sprintf("s3://b/model-%d", random.IntN(n))} // what another run made
		}
		s, err := tracker.NewInput(input, "/")
		w.must(err)
		w.must(w.tracker.AddSource(w.Context(), runID(random.IntN(n)), s))
	}
}

// stage makes a dataset of a name by a run.
func (w *world) stage(run tracker.RunID, name string) {
	w.Helper()
	by := dataset.Stager{Maker: &dataset.Maker{Run: run, Artifact: name}}
	spec := dataset.Spec{Sources: []dataset.Source{{URI: "raw", Version: "1"}}}
	d, _, err := by.Stage(w.Context(), w.store, spec, func(ctx context.Context, out *dataset.Writer) error {
		return out.WriteTable(ctx, dataset.Train, dataset.Table{{Name: "id", Values: []int64{1, 2, 3}}})
	})
	w.must(err)
	ref, err := dataset.ParseRef(name)
	w.must(err)
	_, err = dataset.SetLabel(w.Context(), w.store, ref, d.Commit.Fingerprint)
	w.must(err)
}

// publish refreshes the index and publishes it.
func (w *world) publish(opts *catalog.Options) *catalog.Published {
	w.Helper()
	done, err := w.tryPublish(opts)
	w.must(err)
	return done
}

func (w *world) tryPublish(opts *catalog.Options) (*catalog.Published, error) {
	w.Helper()
	if _, err := w.index.Refresh(w.Context()); err != nil {
		return nil, err
	}
	aliases, err := alias.NewSet(w.store, nil).List(w.Context())
	if err != nil {
		return nil, err
	}
	items, err := dataset.Inventory(w.Context(), w.store)
	if err != nil {
		return nil, err
	}
	return catalog.Publish(w.Context(), w.store, catalog.Content{Index: w.index, Aliases: aliases, Datasets: items}, opts)
}

// check reads every table of the newest version whole, against its checksums, and returns its manifest.
func (w *world) check() *catalog.Manifest {
	w.Helper()
	m, err := catalog.Newest(w.Context(), w.store)
	w.must(err)
	w.checkTables(m)
	return m
}

func (w *world) checkTables(m *catalog.Manifest) {
	w.Helper()
	for _, t := range m.Tables {
		r, err := dataset.OpenFile(w.Context(), w.store, catalog.Root(w.store.Layout()).Join(t.File.Name), t.File)
		w.must(err)
		rows := int64(0)
		for batch, err := range r.Batches(w.Context(), nil) {
			w.must(err)
			rows += batch.NumRows()
		}
		if rows != t.File.Rows {
			w.Errorf("table %s has %d rows, the manifest says %d", t.Table, rows, t.File.Rows)
		}
	}
}

// keys lists what lies in the catalog, without its directory.
func (w *world) keys() (list []string) {
	w.Helper()
	root := string(catalog.Root(w.store.Layout())) + "/"
	for o, err := range w.store.List(w.Context(), root) {
		w.must(err)
		list = append(list, strings.TrimPrefix(string(o.Key), root))
	}
	return list
}

func has(list []string, name string) bool { return slices.Contains(list, name) }

// python is one with the engines that the tests ask.
func python(t testing.TB, script string, args ...string) []byte {
	t.Helper()
	interpreter := servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4")
	out, err := exec.CommandContext(t.Context(), interpreter, append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// digestOf tells indexes apart by what they know of runs.
func (w *world) digestOf(x *index.Index) string {
	w.Helper()
	s, err := x.Snapshot(w.Context())
	w.must(err)
	defer s.Close()
	digest, err := s.Digest(w.Context())
	w.must(err)
	return digest
}

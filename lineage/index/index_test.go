package index_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// world is a tracker root that changes, and an index of it.
type world struct {
	*testing.T
	tracker *tracker.FileTracker
	index   *index.Index
	random  *rand.Rand
	clock   time.Time
	runs    []tracker.RunID
	last    tracker.RunID // that step changed
	mu      sync.Mutex    // guards clock
	sparing bool          // with what is asked of each state
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 1)), clock: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s, err := store.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.tracker = tracker.NewFileTracker(s, &tracker.Options{Now: w.now})
	w.index = w.open(t.TempDir())
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

func (w *world) open(dir string) *index.Index {
	w.Helper()
	x, err := index.Open(w.Context(), w.tracker, index.Options{Dir: dir, Now: w.now})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { x.Close() })
	return x
}

// step changes something at random.
func (w *world) step() {
	w.Helper()
	ctx := w.Context()
	w.pass(time.Duration(w.random.IntN(90)) * time.Second)
	if len(w.runs) == 0 || w.random.IntN(4) == 0 {
		w.runs = append(w.runs, tracker.RunID(fmt.Sprintf("local://torchx/run-%03d", w.random.IntN(500))))
	}
	run := w.runs[w.random.IntN(len(w.runs))]
	w.last = run
	var err error
	switch w.random.IntN(7) {
	case 0:
		_, err = w.tracker.StartAttempt(ctx, run, tracker.AttemptStart{Host: "h", Command: []string{"python", "train.py"}})
	case 1:
		code := w.random.IntN(2)
		_ = w.tracker.EndAttempt(ctx, run, 1, tracker.AttemptEnd{State: []tracker.State{tracker.Succeeded, tracker.Failed}[code], ExitCode: &code}) // there may be no attempt, or it has ended
	case 2, 3:
		m := &tracker.Metadata{}
		m.Set(fmt.Sprintf("params.p%d", w.random.IntN(3)), []any{int64(w.random.IntN(5)), "text", "1e3", 0.5, nil, true}[w.random.IntN(6)])
		m.Set("metrics.loss", w.random.Float64())
		err = w.tracker.AddMetadata(ctx, run, m)
	case 4:
		m := pyjson.NewObject(pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(w.random.IntN(1000))}, pyjson.Member{Key: tracker.KeyKind, Value: "model"})
		err = w.tracker.AddArtifact(ctx, run, tracker.Artifact{Name: fmt.Sprintf("a%d", w.random.IntN(3)), Path: "/x", Metadata: m})
	case 5:
		parent := w.runs[w.random.IntN(len(w.runs))]
		if parent != run {
			err = w.tracker.AddSource(ctx, run, tracker.Source{ID: parent, Artifact: []string{"", "a1"}[w.random.IntN(2)]})
		}
	case 6:
		var s tracker.Source
		if s, err = tracker.NewInput(tracker.Source{Name: "clicks", Version: fmt.Sprint(w.random.IntN(3))}, "/"); err == nil {
			err = w.tracker.AddSource(ctx, run, s)
		}
	}
	if err != nil {
		w.Fatal(err)
	}
}

// drop deletes a run from the root, "" if there is none.
func (w *world) drop() tracker.RunID {
	if len(w.runs) == 0 {
		return ""
	}
	i := w.random.IntN(len(w.runs))
	for o, err := range w.tracker.Store().List(w.Context(), w.runs[i].Encode()+"/") {
		if err == nil {
			err = w.tracker.Store().Delete(w.Context(), o.Key)
		}
		if err != nil {
			w.Fatal(err)
		}
	}
	gone := w.runs[i]
	w.runs = slices.DeleteFunc(w.runs, func(id tracker.RunID) bool { return id == gone })
	return gone
}

// filters are asked of every state.
var filters = []string{
	"", "params.p1 = 2", "params.p1 != 2", "not params.p1 = 2", "params.p0 > 1 or metrics.loss < 0.3", "params.p2 like 't%'",
	"params.p2 not like 't%'", "params.p1 is null", "params.p1 in (1, 'text')", "params.p1 not in (1, 'text')", "params.p1 not in (1, 2)",
	"params.p2 = 1000 or params.p2 = true", "status = 'FINISHED'", "state = 'LOST'", "status != 'RUNNING'", "started > '10m ago'", "ended is null",
	"duration > 100", "attempts >= 2", "artifacts.name = 'a1' and artifacts.size_bytes > 500", "artifacts.name != 'a1'", "parents.artifact = 'a1'",
	"datasets.name = 'clicks' and datasets.version in ('1', '2')", "parents.id ilike '%RUN-1%'", "command like 'python%' and exit_code = 1", "name like 'run-_1%'",
}

// check compares every answer of the index with what reading all records says.
func (w *world) check() {
	w.Helper()
	ctx := w.Context()
	if _, err := w.index.Refresh(ctx); err != nil {
		w.Fatal(err)
	}
	w.compare(ctx)
}

// compare is check of the index as it is.
func (w *world) compare(ctx context.Context) {
	w.Helper()
	all := []*tracker.Run{}
	for run, err := range w.tracker.Runs(ctx, nil) {
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, run)
	}
	for _, text := range w.some(filters, 4) {
		w.checkRuns(ctx, all, text)
	}
	w.checkLineage(ctx)
}

// some picks n of a list where not all is asked each time.
func (w *world) some(list []string, n int) []string {
	if !w.sparing {
		return list
	}
	picked := make([]string, n)
	for i := range picked {
		picked[i] = list[w.random.IntN(len(list))]
	}
	return picked
}

func (w *world) checkRuns(ctx context.Context, all []*tracker.Run, text string) {
	w.Helper()
	var q index.Query
	want := slices.Clone(all)
	if text != "" {
		expr, err := filter.Parse(text, w.clock)
		if err != nil {
			w.Fatal(err)
		}
		q.Where = expr
		want = slices.DeleteFunc(want, func(r *tracker.Run) bool { return !expr.Match(filter.Run{Run: r}) })
	}
	for _, order := range w.some([]string{"id", "params.p1 desc, id", "metrics.loss, id", "ended desc, id"}, 1) {
		orders, err := filter.ParseOrder(order)
		if err != nil {
			w.Fatal(err)
		}
		q.Order = orders
		got, err := w.index.Runs(ctx, q)
		if err != nil {
			w.Fatalf("%s: %v", text, err)
		}
		sorted := make([]filter.Run, len(want))
		for i, r := range want {
			sorted[i] = filter.Run{Run: r}
		}
		filter.Sort(sorted, orders)
		for i := range sorted {
			want[i] = sorted[i].Run
		}
		if g, x := inWords(w.T, got), inWords(w.T, want); g != x {
			w.Fatalf("%q by %s: index says\n%s\nrecords say\n%s", text, order, g, x)
		}
	}
}

func (w *world) checkLineage(ctx context.Context) {
	w.Helper()
	whole, err := lineage.Load(ctx, w.tracker)
	if err != nil {
		w.Fatal(err)
	}
	nodes := append([]tracker.RunID{"clicks@1"}, w.runs...)
	for _, id := range nodes[:min(len(nodes), 12)] {
		for _, q := range []lineage.Query{{}, {Up: true}, {Down: true, Depth: 2}, {Up: true, Depth: 1}} {
			want, wantErr := whole.Closure(string(id), q)
			var got *lineage.Subgraph
			near, gotErr := w.index.Near(ctx, string(id), q)
			if gotErr == nil {
				got, gotErr = near.Closure(string(id), q)
			}
			if (gotErr == nil) != (wantErr == nil) {
				w.Fatalf("%s %+v: index %v, records %v", id, q, gotErr, wantErr)
			}
			if gotErr != nil {
				continue
			}
			for _, s := range []*lineage.Subgraph{got, want} {
				s.Warnings = nil
				for i := range s.Edges { // a graph reads the times of few links
					s.Edges[i].Time, s.Edges[i].Role = time.Time{}, ""
				}
			}
			if g, x := inWords(w.T, got), inWords(w.T, want); g != x {
				w.Fatalf("%s %+v: index says\n%s\nrecords say\n%s", id, q, g, x)
			}
		}
	}
}

func inWords(t *testing.T, v any) string {
	t.Helper()
	body, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestIndexEqualsRecords plays random histories and compares all answers with those of the records.
func TestIndexEqualsRecords(t *testing.T) {
	steps := 500
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		steps = 10000
	}
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for i := range steps / 5 {
				w.step()
				if w.random.IntN(15) == 0 {
					w.drop()
				}
				if i%20 == 19 {
					w.check()
				}
			}
		})
	}
}

func TestUnchangedRootIsOnlyListed(t *testing.T) {
	w := newWorld(t, 7)
	for range 100 {
		w.step()
	}
	w.clock = time.Now().Add(time.Hour) // all is older than the uncertainty of a listing
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	done, err := w.index.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done.Read != 0 || done.Listed == 0 {
		t.Errorf("%d of %d runs read, want none", done.Read, done.Listed)
	}
}

func TestDamagedFileIsMadeAnew(t *testing.T) {
	w := newWorld(t, 8)
	for range 50 {
		w.step()
	}
	for name, damage := range map[string]func(body []byte) []byte{
		"no database":   func([]byte) []byte { return []byte(strings.Repeat("not a database", 1000)) },
		"another kind":  func(body []byte) []byte { body[60], body[63] = 0x7f, 0x7f; return body },
		"cut":           func(body []byte) []byte { return body[:len(body)/2] },
		"cut to a stub": func(body []byte) []byte { return body[:10] },
		"empty":         func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first := w.open(dir)
			if _, err := first.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
			if err != nil || len(files) != 1 {
				t.Fatalf("files %v, error %v", files, err)
			}
			body, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], damage(body), 0o600); err != nil {
				t.Fatal(err)
			}
			again := &world{T: t, tracker: w.tracker, random: w.random, clock: w.clock, runs: w.runs}
			again.index = again.open(dir)
			again.check()
		})
	}
}

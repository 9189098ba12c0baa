package tracker_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	runA = tracker.RunID("local://torchx/prepare-aaa")
	runB = tracker.RunID("local://torchx/train-bbb")
	runC = tracker.RunID("local://torchx/evaluate-ccc")
)

// place is a store to test on.
type place struct {
	name string
	url  string
}

func places(t *testing.T) []place {
	return []place{{"mem", "mem://"}, {"local", t.TempDir()}}
}

func openStore(t testing.TB, url string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// onEach runs a test on every place.
func onEach(t *testing.T, test func(t *testing.T, s *store.Store)) {
	for _, p := range places(t) {
		t.Run(p.name, func(t *testing.T) { test(t, openStore(t, p.url, nil)) })
	}
}

// wall is a clock that stands still until it is moved.
type wall struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func newWall() *wall {
	return &wall{now: time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)}
}

func (w *wall) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *wall) move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// warnings collects what readers passed over.
type warnings struct {
	mu   sync.Mutex // guards list
	list []tracker.Warning
}

func (w *warnings) add(warning tracker.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, warning)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var texts []string
	for _, warning := range w.list {
		texts = append(texts, warning.String())
	}
	w.list = nil
	slices.Sort(texts)
	return texts
}

// requests counts what is asked of a store, as "op key".
type requests struct {
	mu   sync.Mutex // guards list
	list []string
}

func (r *requests) intercept(_ context.Context, q store.Request, do func() error) error {
	r.mu.Lock()
	r.list = append(r.list, q.Op+" "+q.Key)
	r.mu.Unlock()
	return do()
}

func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// ops counts by op.
func ops(list []string) map[string]int {
	count := make(map[string]int)
	for _, q := range list {
		op, _, _ := strings.Cut(q, " ")
		count[op]++
	}
	return count
}

func object(kv ...any) *pyjson.Object {
	o := &pyjson.Object{}
	for i := 0; i < len(kv); i += 2 {
		o.Set(kv[i].(string), kv[i+1])
	}
	return o
}

// dump is v as JSON, for comparing.
func dump(t testing.TB, v any) string {
	t.Helper()
	b, err := pyjson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// objects returns all bodies of a store by key.
func objects(t testing.TB, s *store.Store) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for o, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Get(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		all[string(o.Key)] = string(b)
	}
	return all
}

// put writes raw objects.
func put(t testing.TB, s *store.Store, key, body string) {
	t.Helper()
	if err := s.Put(t.Context(), store.Key(key), []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// links shows sources as "id" and "id#artifact".
func links(list []tracker.Source) []string {
	texts := []string{}
	for _, s := range list {
		text := string(s.ID)
		if s.Artifact != "" {
			text += "#" + s.Artifact
		}
		texts = append(texts, text)
	}
	return texts
}

func ids(t testing.TB, tr tracker.Tracker, parent tracker.RunID) []string {
	t.Helper()
	list := []string{}
	for id, err := range tr.RunIDs(t.Context(), parent) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(id))
	}
	return list
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func sameMap(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %s holds %q, want %q", what, key, got[key], want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: unexpected %s with %q", what, key, got[key])
		}
	}
}

// counter is a source of random bytes that counts.
type counter struct {
	mu sync.Mutex // guards n
	n  byte
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range p {
		p[i] = c.n
	}
	c.n++
	return len(p), nil
}

func key(run tracker.RunID, elem ...string) string {
	return string(store.Key(run.Encode()).Join(elem...))
}

func b32(text string) string { return tracker.RunID(text).Encode() }

func numbered(format string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return list
}

func lastError[T any](seq iter.Seq2[T, error]) error {
	var last error
	for _, err := range seq {
		last = err
	}
	return last
}

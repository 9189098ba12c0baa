package lineage_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// open opens a tracker whose root is the root of the store at url.
func open(t *testing.T, url string, opts *store.Options) *tracker.FileTracker {
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
	return tracker.NewFileTracker(s, nil)
}

// Roots that TorchX wrote, beside what a correct reader sees in them.
func TestGraphOfTorchXRoots(t *testing.T) {
	for _, version := range []string{"v0.7", "v0.8"} {
		t.Run(version, func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Join("..", "testdata", "torchx", version))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Runs map[string]struct {
					Sources  [][2]*string
					Children []string
				}
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			g, err := lineage.Load(t.Context(), open(t, filepath.Join(dir, "root"), nil))
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Runs) == 0 {
				t.Fatal("no runs expected")
			}
			for id, run := range want.Runs {
				var sources []string
				for _, s := range run.Sources {
					text := *s[0] + ">" + id
					if s[1] != nil && *s[1] != "" {
						text += ":" + *s[1]
					}
					sources = append(sources, text)
				}
				slices.Sort(sources)
				parents := write(g.Parents(id))
				slices.Sort(parents)
				equal(t, "parents of "+id, parents, slices.Compact(sources))
				var children []string
				for _, e := range g.Children(id) {
					children = append(children, e.To)
				}
				slices.Sort(children)
				equal(t, "children of "+id, slices.Compact(children), slices.Sorted(slices.Values(run.Children)))
			}
		})
	}
}

// counter counts requests by operation and what they were for.
type counter struct {
	mu   sync.Mutex // guards seen
	seen []string
}

func (c *counter) intercept(_ context.Context, r store.Request, do func() error) error {
	c.mu.Lock()
	c.seen = append(c.seen, r.Op+" "+r.Key)
	c.mu.Unlock()
	return do()
}

// take returns the requests since the last take whose text holds part.
func (c *counter) take(part string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := slices.DeleteFunc(c.seen, func(s string) bool { return !strings.Contains(s, part) })
	c.seen = nil
	return found
}

func TestLoadReadsNoRecordsAndAttachOnlyThoseShown(t *testing.T) {
	var c counter
	tr := open(t, "mem://", &store.Options{Intercept: c.intercept})
	for _, run := range []tracker.RunID{"a", "b", "far"} {
		if err := tr.AddMetadata(t.Context(), run, pyjson.NewObject(pyjson.Member{Key: "k", Value: string(run)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.AddSource(t.Context(), "b", tracker.Source{ID: "a", Artifact: "model"}); err != nil {
		t.Fatal(err)
	}
	input, err := tracker.NewInput(tracker.Source{URI: "s3a://bucket/clicks/"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.AddSource(t.Context(), "a", input); err != nil {
		t.Fatal(err)
	}
	c.take("")

	g, err := lineage.Load(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	requests := c.take("")
	for _, r := range requests {
		if strings.Contains(r, "/metadata/") {
			t.Errorf("loading reads a record: %s", r)
		}
	}
	if lists := slices.DeleteFunc(requests, func(r string) bool { return !strings.HasPrefix(r, "list ") }); len(lists) != 1 {
		t.Errorf("loading lists %q, want one listing", lists)
	}

	id, err := g.Resolve("s3://bucket/clicks")
	if err != nil {
		t.Fatal(err)
	}
	sub := closure(t, g, id, lineage.Query{Down: true})
	equal(t, "edges", write(sub.Edges), []string{"a>b:model", "s3://bucket/clicks>a"})
	if err := sub.Attach(t.Context(), tr); err != nil {
		t.Fatal(err)
	}
	if b, _ := sub.Node("b"); b.Run == nil || b.Run.Metadata.Text("k") != "b" {
		t.Errorf("b: %+v, want its records", b)
	}
	if far := c.take(tracker.RunID("far").Encode()); len(far) != 0 {
		t.Errorf("a run that is not shown was read: %q", far)
	}
}

func TestLoadRefusesANewerFormat(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "heirloom.json", []byte(`{"format": 99, "version": 99, "oldest_writer": 99}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := lineage.Load(t.Context(), tracker.NewFileTracker(s, nil)); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("load: %v, want kind ErrUnsupported", err)
	}
}

func TestLoadWarnsOfWhatItPassesOver(t *testing.T) {
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range []store.Key{"lost+found/x", store.Key(tracker.RunID("a").Encode()) + "/sources/not-base32"} {
		if err := s.Put(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	g, err := lineage.Load(t.Context(), tracker.NewFileTracker(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Warnings()) != 2 || g.Len() != 1 {
		t.Errorf("%d nodes, warnings %v; want the run, and a word on the folder and the source", g.Len(), g.Warnings())
	}
	if sub := closure(t, g, "a", lineage.Query{}); len(sub.Warnings) != 2 {
		t.Errorf("the answer does not say what it may lack: %v", sub.Warnings)
	}
}

package tracker_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const fixtures = "../testdata/torchx"

// expectation is what expected.json says about a root.
type expectation struct {
	ids  []string
	runs map[tracker.RunID]*pyjson.Object
}

func expected(t *testing.T, version string) expectation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures, version, "expected.json"))
	check(t, err)
	o, err := pyjson.UnmarshalObject(text)
	check(t, err)
	e := expectation{ids: texts(member(o, "run_ids")), runs: map[tracker.RunID]*pyjson.Object{}}
	for id, run := range member(o, "runs").(*pyjson.Object).All() {
		e.runs[tracker.RunID(id)] = floats(run).(*pyjson.Object)
	}
	return e
}

func member(o *pyjson.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

func texts(v any) []string {
	list := []string{}
	for _, item := range v.([]any) {
		list = append(list, item.(string))
	}
	return list
}

// floats puts the floats back that expected.json spells out.
func floats(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case *pyjson.Object:
		switch v.Text("$float") {
		case "nan":
			return math.NaN()
		case "inf":
			return math.Inf(1)
		case "-inf":
			return math.Inf(-1)
		}
		for _, k := range v.Keys() {
			v.Set(k, floats(member(v, k)))
		}
	}
	return v
}

// sorted is v with its keys in order: expected.json does not keep their order.
func sorted(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, sorted(item))
		}
		return list
	case *pyjson.Object:
		o := &pyjson.Object{}
		for _, k := range slices.Sorted(slices.Values(v.Keys())) {
			o.Set(k, sorted(member(v, k)))
		}
		return o
	}
	return v
}

// copyFixture puts a fixture into a store.
func copyFixture(t *testing.T, version string, s *store.Store) {
	t.Helper()
	dir := os.DirFS(filepath.Join(fixtures, version, "root"))
	check(t, fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		return s.Put(t.Context(), store.Key(name), body)
	}))
}

// TestFixtures reads roots that TorchX wrote.
func TestFixtures(t *testing.T) {
	for _, version := range []string{"v0.7", "v0.8"} {
		want := expected(t, version)
		onEach(t, func(t *testing.T, s *store.Store) {
			copyFixture(t, version, s)
			var told warnings
			tr := tracker.NewFileTracker(s, &tracker.Options{Warn: told.add})
			same(t, "run ids", ids(t, tr, ""), want.ids)
			for run, err := range tr.Runs(t.Context(), nil) {
				check(t, err)
				sameRun(t, run, want.runs[run.ID])
				if run.State != tracker.Unknown {
					t.Errorf("%s: state %s", run.ID, run.State)
				}
			}
			for id, run := range want.runs {
				same(t, "children of "+string(id), ids(t, tr, id), texts(member(run, "children")))
				alone, err := tr.Run(t.Context(), id)
				check(t, err)
				alone.Children = nil
				for _, child := range texts(member(run, "children")) {
					alone.Children = append(alone.Children, tracker.RunID(child))
				}
				sameRun(t, alone, run)
				sameParts(t, tr, id, run)
			}
			same(t, "warnings", told.take(), nil)
		})
	}
}

func sameRun(t *testing.T, run *tracker.Run, want *pyjson.Object) {
	t.Helper()
	got := pyjson.NewObject(
		pyjson.Member{Key: "artifacts", Value: artifactView(run.Artifacts)},
		pyjson.Member{Key: "children", Value: anyList(run.Children)},
		pyjson.Member{Key: "metadata", Value: run.Metadata},
		pyjson.Member{Key: "sources", Value: sourceView(run.Sources)})
	want = want.Clone()
	want.Delete("torchx_sources")
	want.Set("sources", sourceOrder(member(want, "sources").([]any)))
	if g, w := dump(t, sorted(got)), dump(t, sorted(want)); g != w {
		t.Errorf("%s:\ngot  %s\nwant %s", run.ID, g, w)
	}
}

// sameParts asks for each part by itself.
func sameParts(t *testing.T, tr *tracker.FileTracker, id tracker.RunID, want *pyjson.Object) {
	t.Helper()
	m, err := tr.Metadata(t.Context(), id)
	check(t, err)
	a, err := tr.Artifacts(t.Context(), id)
	check(t, err)
	s, err := tr.Sources(t.Context(), id, "")
	check(t, err)
	l, err := tr.Lineage(t.Context(), id)
	check(t, err)
	var children []tracker.RunID
	for _, e := range l.Consumers {
		children = append(children, e.To)
	}
	children = slices.Compact(children)
	sameRun(t, &tracker.Run{ID: id, Metadata: m, Artifacts: a, Sources: s, Children: children}, want)
	sameRun(t, &tracker.Run{ID: id, Metadata: m, Artifacts: l.Artifacts, Sources: l.Sources, Children: children}, want)
}

func anyList(list []tracker.RunID) []any {
	out := []any{}
	for _, id := range list {
		out = append(out, string(id))
	}
	return out
}

func artifactView(list []tracker.Artifact) *pyjson.Object {
	o := &pyjson.Object{}
	for _, a := range list {
		var meta any
		if a.Metadata != nil {
			meta = a.Metadata
		}
		o.Set(a.Name, object("path", a.Path, "metadata", meta))
	}
	return o
}

func sourceView(list []tracker.Source) []any {
	out := []any{}
	for _, s := range list {
		var name any
		if s.Artifact != "" {
			name = s.Artifact
		}
		out = append(out, []any{string(s.ID), name})
	}
	return out
}

// sourceOrder sorts as Sources does: by id, the link without a name first.
func sourceOrder(list []any) []any {
	slices.SortFunc(list, func(a, b any) int {
		text := func(v any) string { name, _ := v.([]any)[1].(string); return v.([]any)[0].(string) + "\x00" + name }
		return strings.Compare(text(a), text(b))
	})
	return list
}

// TestRewriteFixtures adds the facts of every record again: the bytes are
// TorchX's.
func TestRewriteFixtures(t *testing.T) {
	for _, version := range []string{"v0.7", "v0.8"} {
		from, to := openStore(t, "mem://", nil), openStore(t, "mem://", nil)
		copyFixture(t, version, from)
		tr := tracker.NewFileTracker(to, nil)
		original := objects(t, from)
		keys := slices.Sorted(maps.Keys(original))
		for _, k := range keys { // a category at a time, in the order of time
			rewrite(t, tr, k, original[k])
		}
		rewritten := objects(t, to)
		if got, want := bodiesOf(rewritten), bodiesOf(original); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// rewrite adds what one object of TorchX says.
func rewrite(t *testing.T, tr *tracker.FileTracker, name, body string) {
	t.Helper()
	parts := strings.Split(name, "/")
	run, err := tracker.DecodeRunID(parts[0])
	check(t, err)
	switch parts[1] {
	case "metadata":
		o, err := pyjson.UnmarshalObject([]byte(body))
		check(t, err)
		check(t, tr.AddMetadata(t.Context(), run, member(o, "metadata").(*pyjson.Object)))
	case "artifacts":
		o, err := pyjson.UnmarshalObject([]byte(body))
		check(t, err)
		meta, _ := member(o, "metadata").(*pyjson.Object)
		check(t, tr.AddArtifact(t.Context(), run, tracker.Artifact{Name: o.Text("name"), Path: o.Text("path"), Metadata: meta}))
	case "sources":
		source, err := tracker.DecodeRunID(parts[2])
		check(t, err)
		for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
			check(t, tr.AddSource(t.Context(), run, tracker.Source{ID: source, Artifact: line}))
		}
	}
}

// bodiesOf lists what TorchX looks at without the names of records, which hold
// the time. The mirror is left out: who writes it depends on the order of
// events.
func bodiesOf(all map[string]string) []string {
	var list []string
	for k, body := range all {
		switch dir := path.Dir(k); path.Base(dir) {
		case "metadata", "artifacts":
			list = append(list, fmt.Sprintf("%s: %s", dir, body))
		case "sources":
			list = append(list, fmt.Sprintf("%s: %q", k, body))
		}
	}
	slices.Sort(list)
	return list
}

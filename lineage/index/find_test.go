package index_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// digestOf is a digest that shares its first eight digits with some others.
func digestOf(n int) string { return fmt.Sprintf("%08x", n%3) + strings.Repeat(fmt.Sprint(n%7), 56) }

// nameThings gives the world runs, inputs and artifacts of many forms of name.
func (w *world) nameThings() {
	w.Helper()
	ctx := w.Context()
	runs := []tracker.RunID{"local://torchx/train-x7f2", "local://torchx/pretrain-x7f2", "slurm://torchx/train-b9k1", "odd#run", "bare", "end/", "local://torchx/é-1"}
	for i, run := range runs {
		if err := w.tracker.AddMetadata(ctx, run, pyjson.NewObject(pyjson.Member{Key: "n", Value: int64(i)})); err != nil {
			w.Fatal(err)
		}
		for j := range 3 {
			m := pyjson.NewObject(pyjson.Member{Key: tracker.KeySHA256, Value: digestOf(i + j)}, pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(i)})
			if err := w.tracker.AddArtifact(ctx, run, tracker.Artifact{Name: fmt.Sprintf("a%d", j), Path: fmt.Sprintf("file:///made/%d/%d", i%4, j), Metadata: m}); err != nil {
				w.Fatal(err)
			}
		}
	}
	long := "s3://bucket/" + strings.Repeat("long/", 40)
	for i, s := range []tracker.Source{
		{Name: "clicks", Version: "1", URI: "s3://bucket/clicks"}, {Name: "clicks", Version: "2", Digest: digestOf(1)}, {Name: "views"}, {URI: long},
		{URI: "s3://bucket/clicks"}, {URI: "file:///data/digits.csv", Digest: "sha256:" + digestOf(2)}, {Name: strings.Repeat("n", 160), Version: "3"}, {Name: "a@b", Version: "c"},
	} {
		input, err := tracker.NewInput(s, "/")
		if err != nil {
			w.Fatal(err)
		}
		if err := w.tracker.AddSource(ctx, runs[i%len(runs)], input); err != nil {
			w.Fatal(err)
		}
	}
	for _, s := range []tracker.Source{
		{ID: "slurm://torchx/gone-1"}, {ID: "plain", Role: tracker.RoleParent}, {ID: "api://v1/set", Role: tracker.RoleInput}, {ID: runs[0], Artifact: "a0"}, {ID: "s3://b/torchx"},
	} {
		if err := w.tracker.AddSource(ctx, runs[1], s); err != nil {
			w.Fatal(err)
		}
	}
	w.runs = append(w.runs, runs...)
}

// graphOf is the whole root as a graph, with what the records tell of artifacts.
func (w *world) graphOf() *lineage.Graph {
	w.Helper()
	g, err := lineage.Load(w.Context(), w.tracker)
	if err != nil {
		w.Fatal(err)
	}
	var contents []lineage.Content
	for run, err := range w.tracker.Runs(w.Context(), nil) {
		if err != nil {
			w.Fatal(err)
		}
		for _, a := range run.Artifacts {
			d, _ := lineage.ReadDigest(a.SHA256())
			contents = append(contents, lineage.Content{Run: run.ID, Artifact: a.Name, Path: a.Path, SHA256: d})
		}
	}
	return g.WithContents(contents)
}

// TestNamesOfIndexAreThoseOfGraph asks both for every part of every name.
func TestNamesOfIndexAreThoseOfGraph(t *testing.T) {
	w := newWorld(t, 11)
	w.nameThings()
	for range 2 {
		if _, err := w.index.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := w.graphOf()
		for _, text := range w.typed() {
			w.compareNames(g, text)
		}
		w.drop() // what was only a part of this is no node any more
	}
}

// typed lists what people could type.
func (w *world) typed() []string {
	texts := []string{
		"x", "train", "x7f2", "torchx", "tor%", "_", "CLICKS", "clicks", "clicks@", "clicks@1", "views", "a@b@c", "n", "é", "/", "://", "gone", "gone-1", "plain", "api", "set", "odd#run", "odd#run#a1",
		"s3a://bucket/clicks/", "file:///made/1/2", "file:///made/0/0", "digits", "end/", "bare#a0", "train-x7f2#a1", "00000000", "00000001", "sha256:00000002", digestOf(1), "sha256:" + digestOf(2), "'", "é#",
	}
	for _, run := range w.runs {
		for i := 0; i < len(run); i += 4 {
			texts = append(texts, string(run[i:]), string(run[:i+1]))
		}
	}
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" || strings.ToValidUTF8(s, "") != s })
}

func (w *world) compareNames(g *lineage.Graph, text string) {
	w.Helper()
	ctx := context.Background()
	for fit := lineage.FitID; fit <= lineage.FitDigest; fit++ {
		if fit == lineage.FitDigest && strings.Trim(text, "0123456789abcdef") != "" {
			continue // a resolver asks for digits alone
		}
		want, err := g.Find(ctx, fit, text)
		if err != nil {
			w.Fatal(err)
		}
		got, err := w.index.Find(ctx, fit, text)
		if err != nil || !slices.Equal(got, want) {
			w.Errorf("%q as %d: index finds %q, %v; graph %q", text, fit, got, err, want)
		}
	}
	want, wantErr := (&lineage.Resolver{Names: g, Workdir: "/data"}).Resolve(ctx, text)
	got, gotErr := (&lineage.Resolver{Names: w.index, Workdir: "/data"}).Resolve(ctx, text)
	if got != want || (gotErr == nil) != (wantErr == nil) {
		w.Errorf("%q: index resolves to %q, %v; graph to %q, %v", text, got, gotErr, want, wantErr)
	}
}

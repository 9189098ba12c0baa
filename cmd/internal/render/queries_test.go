package render_test

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// attached fills in the samples' runs.
func attached(sub *lineage.Subgraph) *lineage.Subgraph {
	runs := samples()
	for i := range sub.Nodes {
		sub.Nodes[i].Run = runs[sub.Nodes[i].ID]
	}
	return sub
}

func ways(t testing.TB, every bool) *lineage.Paths {
	t.Helper()
	p, err := pipeline().Paths(prepare, eval, lineage.PathQuery{Every: every, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	attached(p.Sub)
	return p
}

func impact(t testing.TB, gate string) render.Impact {
	t.Helper()
	e, err := filter.Parse(gate, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	sub := closure(t, pipeline(), prepare, lineage.Query{Down: true})
	for i := range sub.Nodes {
		if sub.Nodes[i].ID == tune {
			sub.Nodes[i].Aliases = []string{"prod", "best"}
		}
	}
	return render.Impact{
		Impact: sub.Impact(nil, e), FailOn: gate,
		Completeness: &render.Completeness{AsOf: at(9, 0), Runs: 6, NoInputs: 1},
	}
}

func difference() render.Diff {
	runs := samples()
	d := lineage.DiffRuns(runs[train1], runs[train2])
	d.Ancestors = []lineage.Parting{{A: "clicks@1", B: "clicks@2"}, {A: prepare}, {B: nasty}}
	labels := map[string]string{"clicks@1": "clicks@1", "clicks@2": "clicks@2", prepare: "prepare-b1c2d3", nasty: nasty}
	return render.Diff{Diff: d, RunA: runs[train1], RunB: runs[train2], Labels: labels, Completeness: &render.Completeness{AsOf: at(9, 0), Runs: 6}}
}

func origin(t testing.TB) render.Origin {
	t.Helper()
	digest, _ := lineage.ReadDigest(strings.Repeat("ab", 32))
	names := []lineage.Content{
		{Run: tune, Artifact: "model.gob", Path: "s3://b/model.gob", Kind: "model", SHA256: digest, Size: 20480, Started: at(4, 0)},
		{Input: "file:///m.gob", Path: "file:///m.gob", SHA256: digest, Size: -1, UsedBy: []tracker.RunID{sweep}},
	}
	sub, err := pipeline().WithContent(digest, names).Closure(lineage.ContentID(digest), lineage.Query{Up: true, Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	return render.Origin{Digest: string(digest), File: "m.gob", Size: 20480, Names: names, Chain: attached(sub), Completeness: &render.Completeness{AsOf: at(9, 0), Runs: 6}}
}

func TestQueries(t *testing.T) {
	for name, c := range map[string]struct {
		formats []render.Format
		write   func(*bytes.Buffer, render.Format) error
	}{
		"ways": {[]render.Format{render.Tree, render.JSON, render.DOT}, func(b *bytes.Buffer, f render.Format) error {
			return render.Paths(b, ways(t, false), f, render.Style{})
		}},
		"every": {[]render.Format{render.Tree, render.JSON}, func(b *bytes.Buffer, f render.Format) error { return render.Paths(b, ways(t, true), f, render.Style{}) }},
		"impact": {render.ImpactFormats, func(b *bytes.Buffer, f render.Format) error {
			return impact(t, "metrics.val_accuracy > 0.96").Write(b, f, render.Style{})
		}},
		"diff":   {render.DiffFormats, func(b *bytes.Buffer, f render.Format) error { return difference().Write(b, f, render.Style{}) }},
		"origin": {[]render.Format{render.Tree, render.JSON}, func(b *bytes.Buffer, f render.Format) error { return origin(t).Write(b, f, render.Style{}) }},
		"ends": {render.ListFormats, func(b *bytes.Buffer, f render.Format) error {
			sub := closure(t, pipeline(), eval, lineage.Query{Up: true})
			return render.Ends(sub.Only(sub.Roots()), sub.Steps(true)).Write(b, f, render.Style{})
		}},
	} {
		for _, f := range c.formats {
			t.Run(name+"/"+string(f), func(t *testing.T) {
				var out bytes.Buffer
				if err := c.write(&out, f); err != nil {
					t.Fatal(err)
				}
				checkJSON(t, f, out.Bytes())
				if f != render.JSON && f != render.JSONL && f != render.CSV && hiddenIn(strings.ReplaceAll(out.String(), "\n", "")) {
					t.Errorf("%q acts on a terminal", out.String())
				}
				golden(t, name+"."+string(f), out.Bytes())
			})
		}
	}
}

func TestDiffInColor(t *testing.T) {
	var out bytes.Buffer
	if err := difference().Write(&out, render.Table, render.NewStyle([]string{"TERM=xterm"}, true)); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff-color.txt", out.Bytes())
}

// markdownCell is what a name may be in Markdown: letters, digits, marks, spaces, dashes and character references.
var markdownCell = regexp.MustCompile(`^<code>(?:[\pL\pN\pM -]|&#\d+;)*</code>$`)

// FuzzMarkdown checks that a name in a summary is text alone, and reads as it was.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{nasty, "a|b", "@all", "</code><script>", "`", "http://x", "\\|", "数字", "&lt;", "![x](y)", "$(id)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		i := render.Impact{Impact: &lineage.Impact{Root: name, Affected: []lineage.Affected{{Node: &lineage.Node{ID: name, Kind: lineage.KindRun}, Depth: 1, Via: []string{name}}}}, Where: name}
		var out bytes.Buffer
		if err := i.Write(&out, render.Markdown, render.Style{}); err != nil {
			t.Fatal(err)
		}
		cells := regexp.MustCompile(`<code>.*?</code>`).FindAllString(out.String(), -1)
		for _, cell := range cells {
			if !markdownCell.MatchString(cell) {
				t.Errorf("%q acts", cell)
			}
		}
		if got := html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(cells[0], "<code>"), "</code>")); got != render.Sanitize(name) && !strings.ContainsRune(name, 0x80) {
			t.Errorf("%q reads %q", name, got)
		}
		if lines := strings.Count(out.String(), "\n"); lines != 7 && name != "" {
			t.Errorf("%d lines in %q", lines, out.String())
		}
	})
}

func TestQueryFieldsAreDocumented(t *testing.T) {
	page := documented(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"lineage --to": func(b *bytes.Buffer) error { return render.Paths(b, ways(t, false), render.JSON, render.Style{}) },
		"lineage --roots, --leaves": func(b *bytes.Buffer) error {
			sub := closure(t, pipeline(), eval, lineage.Query{Up: true})
			return render.Ends(sub, sub.Steps(true)).Write(b, render.JSON, render.Style{})
		},
		"impact": func(b *bytes.Buffer) error { return impact(t, "metrics.x > 1").Write(b, render.JSON, render.Style{}) },
		"diff":   func(b *bytes.Buffer) error { return difference().Write(b, render.JSON, render.Style{}) },
		"origin": func(b *bytes.Buffer) error { return origin(t).Write(b, render.JSON, render.Style{}) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			for key := range doc {
				found := key == "completeness"
				for _, path := range append(page[name], page["lineage"]...) {
					found = found || regexp.MustCompile(`^`+regexp.QuoteMeta(key)+`\b`).MatchString(path)
				}
				if !found {
					t.Errorf("%s is printed, but not in docs/json.md", key)
				}
			}
		})
	}
}

package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// checkJSON fails unless each line (jsonl) or the whole is one valid document.
func checkJSON(t *testing.T, f render.Format, text []byte) {
	t.Helper()
	docs := [][]byte{text}
	if f == render.JSONL {
		docs = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	for _, doc := range docs {
		if (f == render.JSON || f == render.JSONL) && len(text) > 0 && !json.Valid(doc) {
			t.Errorf("not JSON: %s", doc)
		}
	}
}

func TestLists(t *testing.T) {
	for _, f := range render.ListFormats {
		t.Run(string(f), func(t *testing.T) {
			var out bytes.Buffer
			if err := render.Runs(runList()).Write(&out, f, render.Style{}); err != nil {
				t.Fatal(err)
			}
			checkJSON(t, f, out.Bytes())
			golden(t, "runs."+string(f), out.Bytes())
		})
	}
}

func TestShow(t *testing.T) {
	runs := samples()
	cases := map[string]*tracker.Run{"full": runs[eval], "bare": runs[sweep], "nasty": runs[train2]}
	for name, r := range cases {
		for _, f := range render.ListFormats {
			t.Run(name+"/"+string(f), func(t *testing.T) {
				var out bytes.Buffer
				if err := render.Show(&out, r, nil, f, render.Style{}); err != nil {
					t.Fatal(err)
				}
				checkJSON(t, f, out.Bytes())
				golden(t, "show-"+name+"."+string(f), out.Bytes())
			})
		}
	}
}

func TestLineage(t *testing.T) {
	g := pipeline()
	ring := lineage.New(nil, []tracker.Edge{
		link("a", "b", "m", ""), link("b", "c", "m", ""), link("c", "a", "", ""), link("c", "c", "self", ""), link("a", "d", nasty, ""),
		link(nasty, "a", "", tracker.RoleInput),
	})
	cases := []struct {
		name string
		sub  *lineage.Subgraph
	}{
		{"up", closure(t, g, eval, lineage.Query{Up: true})},
		{"both", closure(t, g, train1, lineage.Query{})},
		{"artifact", closure(t, g, tune+"#model.gob", lineage.Query{Depth: 1})},
		{"alone", closure(t, g, train2, lineage.Query{Down: true})},
		{"ring", closure(t, ring, "a", lineage.Query{})},
	}
	for _, c := range cases {
		for _, f := range render.LineageFormats {
			t.Run(c.name+"/"+string(f), func(t *testing.T) {
				var out bytes.Buffer
				if err := render.Lineage(&out, c.sub, f, render.Style{}); err != nil {
					t.Fatal(err)
				}
				checkJSON(t, f, out.Bytes())
				golden(t, "lineage-"+c.name+"."+string(f), out.Bytes())
			})
		}
	}
}

func TestColor(t *testing.T) {
	var out bytes.Buffer
	style := render.NewStyle([]string{"TERM=xterm"}, true)
	if err := render.Runs(runList()).Write(&out, render.Table, style); err != nil {
		t.Fatal(err)
	}
	if err := render.Lineage(&out, closure(t, pipeline(), train2, lineage.Query{Up: true, Depth: 1}), render.Tree, style); err != nil {
		t.Fatal(err)
	}
	golden(t, "color.txt", out.Bytes())
}

func TestStyle(t *testing.T) {
	tests := []struct {
		name     string
		environ  []string
		terminal bool
		want     render.Style
	}{
		{"terminal", []string{"TERM=xterm"}, true, render.Style{Color: true, Terminal: true}},
		{"file", nil, false, render.Style{}},
		{"NO_COLOR", []string{"NO_COLOR=1"}, true, render.Style{Terminal: true}},
		{"NO_COLOR without value", []string{"NO_COLOR="}, true, render.Style{Color: true, Terminal: true}},
		{"dumb terminal", []string{"TERM=dumb"}, true, render.Style{Terminal: true}},
	}
	for _, tt := range tests {
		if got := render.NewStyle(tt.environ, tt.terminal); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		text    string
		offered []render.Format
		want    render.Format
	}{{"", render.ListFormats, "table"}, {"JSON", render.ListFormats, "json"}, {"", render.LineageFormats, "tree"}, {"table", render.LineageFormats, "tree"}, {"dot", render.LineageFormats, "dot"}} {
		if got, err := render.ParseFormat(tt.text, tt.offered); err != nil || got != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.text, got, err, tt.want)
		}
	}
	_, err := render.ParseFormat("dot", render.ListFormats)
	if !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a list as dot: %v, want kind ErrInvalid", err)
	}
	for _, print := range []func() error{
		func() error { return render.Runs(nil).Write(nil, render.Tree, render.Style{}) },
		func() error { return render.Show(nil, samples()[eval], nil, render.DOT, render.Style{}) },
		func() error { return render.Lineage(nil, &lineage.Subgraph{}, "png", render.Style{}) },
	} {
		if err := print(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("a form that is not there: %v, want kind ErrInvalid", err)
		}
	}
}

func TestEmptyList(t *testing.T) {
	for f, want := range map[render.Format]string{render.JSON: "{\n  \"runs\": []\n}\n", render.JSONL: ""} {
		var out bytes.Buffer
		if err := render.Runs(nil).Write(&out, f, render.Style{}); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", f, out.String(), err, want)
		}
	}
}

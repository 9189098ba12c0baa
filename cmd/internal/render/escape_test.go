package render_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func TestSanitize(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "train-x7 数字 é e\u0301 👍", "train-x7 数字 é e\u0301 👍"},
		{"escape", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"lines", "a\nb\r\tc", `a\nb\r\tc`},
		{"NUL and DEL", "a\x00b\x7f", `a\x00b\x7f`},
		{"C1 controls", "a\u009b31mb", `a\u009b31mb`},
		{"bidi marks", "a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`},
		{"separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"hidden letters", "a\ufeffb\u200bc\u00add", `a\ufeffb\u200bc\u00add`},
		{"tags", "a\U000e0041b", `a\U000e0041b`},
		{"joiners stay", "👨\u200d👩 می\u200cخواهم", "👨\u200d👩 می\u200cخواهم"},
		{"no UTF-8", "a\xffb\xed\xa0\x80", `a\xffb\xed\xa0\x80`},
		{"replacement character stays", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		if got := render.Sanitize(tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestTableAlignsByWidth(t *testing.T) {
	l := render.List{Columns: []render.Column{{Name: "name"}, {Name: "size_bytes", Right: true}, {Name: "end"}}, Rows: [][]any{
		{"数字", 5, "x"}, {"e\u0301te\u0301", 12345678901, "y"}, {"👨\u200d", nil, "z"}, {nasty, 1.5, "w"},
	}}
	var out bytes.Buffer
	if err := l.Write(&out, render.Table, render.Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "wide.table", out.Bytes())
}

func TestCSVOnATerminalIsNeutral(t *testing.T) {
	l := render.List{Columns: []render.Column{{Name: "name"}}, Rows: [][]any{{nasty}}}
	var file, terminal bytes.Buffer
	if err := l.Write(&file, render.CSV, render.Style{}); err != nil || !strings.Contains(file.String(), "\x1b") {
		t.Errorf("file: %q, %v; want the value as it is", file.String(), err)
	}
	if err := l.Write(&terminal, render.CSV, render.Style{Terminal: true}); err != nil || strings.Contains(terminal.String(), "\x1b") {
		t.Errorf("terminal: %q, %v; want no escape", terminal.String(), err)
	}
}

func TestJSONKeepsValuesAndEscapesWhatTerminalsActUpon(t *testing.T) {
	value := nasty + "\u009b\U000e0041 数字"
	var out bytes.Buffer
	if err := render.Document(&out, map[string]string{"v": value}, render.JSON); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["v"] != value {
		t.Errorf("%s reads as %q, %v", out.Bytes(), back["v"], err)
	}
	if hiddenIn(strings.ReplaceAll(out.String(), "\n", "")) {
		t.Errorf("%q holds what a terminal acts upon", out.String())
	}
}

// hiddenIn reports whether text holds a rune that Sanitize promises to spell out.
func hiddenIn(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}

func FuzzSanitize(f *testing.F) {
	f.Add(nasty)
	f.Add("a\xff\u2028\u009b")
	f.Fuzz(func(t *testing.T, text string) {
		got := render.Sanitize(text)
		if hiddenIn(got) {
			t.Errorf("%q still acts on a terminal", got)
		}
		if render.Sanitize(got) != got {
			t.Errorf("%q is sanitised again", got)
		}
	})
}

// named is a lineage in which every name, artifact and metric is text.
func named(text string) *lineage.Subgraph {
	input := link(text+"?", "b", text, tracker.RoleInput)
	input.Source.Name = text
	sub, err := lineage.New([]tracker.RunID{tracker.RunID(text), "b"}, []tracker.Edge{link(text, "b", text, ""), input}).Closure("b", lineage.Query{})
	if err != nil {
		panic(err)
	}
	for i := range sub.Nodes {
		sub.Nodes[i].Run = &tracker.Run{Metadata: meta("metrics."+text, int64(1))}
	}
	return sub
}

// quoted matches one string of Graphviz, in which a backslash covers the sign behind it.
const quoted = `"(?:[^"\\]|\\.)*"`

// The lines that a picture of two arrows and three nodes may have, by their form.
var (
	dotLine = regexp.MustCompile(`^(?:digraph lineage \{|\}|  \w+=\w+;|  (?:node|edge) \[[^\[\]]*\];|` +
		`  n\d \[label=` + quoted + `, tooltip=` + quoted + `, shape=\w+, style="[a-z,]+", fillcolor="#\w{6}", penwidth=\d\];|` +
		`  n\d -> n\d(?: \[label=` + quoted + `\])?;)$`)
	mermaidLabel = `(?:[^"#;&<>%\x60{}\[\]()|\\:]|#\d+;|<br/>)*`
	mermaidLine  = regexp.MustCompile(`^(?:flowchart LR|  classDef [a-z]+ [a-z0-9#:,-]+|  style n\d stroke-width:3px|` +
		`  n\d(?:\("` + mermaidLabel + `"\)|\["` + mermaidLabel + `"\]|\[\("` + mermaidLabel + `"\)\]|>"` + mermaidLabel + `"\]):::[a-z]+|` +
		`  n\d -->(?:\|"` + mermaidLabel + `"\|)? n\d)$`)
)

// FuzzPictures checks that no name leaves its quotes: every line of a picture has one of the few forms that the
// writers use, and there are as many as without the name.
func FuzzPictures(f *testing.F) {
	for _, seed := range []string{nasty, `a\`, `"`, `\"`, "end", "#35;", "%%{init: {}}%%", "style:a#quot;", "1. list", "_x_", "ﬂ°°35¶ß", "数字", "&lt;", "a, b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || text == "b" || text == "b?" || text == "?" {
			t.Skip("not three nodes")
		}
		sub := named(text)
		for format, form := range map[render.Format]*regexp.Regexp{render.DOT: dotLine, render.Mermaid: mermaidLine} {
			var out, want bytes.Buffer
			if err := render.Lineage(&out, sub, format, render.Style{}); err != nil {
				t.Fatal(err)
			}
			if err := render.Lineage(&want, named("x"), format, render.Style{}); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(want.String(), "\n"); strings.Count(out.String(), "\n") != n {
				t.Errorf("%s: %q does not have %d lines", format, out.String(), n)
			}
			for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
				if !form.MatchString(line) {
					t.Errorf("%s: a name leaves its quotes in %q", format, line)
				}
			}
		}
	})
}

// Graphviz itself reads the pictures where it is installed.
func TestGraphvizReadsPictures(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		servers.Missing(t, err, "apt-get install graphviz", "dot")
	}
	for name, sub := range map[string]*lineage.Subgraph{"pipeline": closure(t, pipeline(), eval, lineage.Query{}), "nasty": named(nasty), "backslash": named(`a\`)} {
		var picture, svg, stderr bytes.Buffer
		if err := render.Lineage(&picture, sub, render.DOT, render.Style{}); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), dot, "-Tsvg")
		command.Stdin, command.Stdout, command.Stderr = &picture, &svg, &stderr
		if err := command.Run(); err != nil || stderr.Len() > 0 {
			t.Fatalf("%s: dot: %v %s", name, err, stderr.String())
		}
		if got := strings.Count(svg.String(), `class="node"`); got != len(sub.Nodes) {
			t.Errorf("%s: %d nodes drawn, want %d", name, got, len(sub.Nodes))
		}
	}
}

func TestFloatsThatJSONCannotWrite(t *testing.T) {
	r := &tracker.Run{ID: "r", State: tracker.Unknown, Metadata: &pyjson.Object{}}
	if err := json.Unmarshal([]byte(`{"metrics.a": 1e999}`), r.Metadata); err != nil {
		t.Fatal(err)
	}
	for _, print := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return render.Show(b, r, nil, render.JSON, render.Style{}) },
		func(b *bytes.Buffer) error {
			return render.Runs([]*tracker.Run{r}).Write(b, render.JSON, render.Style{})
		},
	} {
		var out bytes.Buffer
		if err := print(&out); err != nil || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"Infinity"`) {
			t.Errorf("%s, %v; want valid JSON with \"Infinity\"", out.String(), err)
		}
	}
}

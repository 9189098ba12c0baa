package render_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

func drawSVG(t testing.TB, sub *lineage.Subgraph) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := render.Lineage(&out, sub, render.SVG, render.Style{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parts reads a drawing as XML: how many elements of each class there are, and all text.
func parts(t testing.TB, drawing []byte) (classes map[string]int, text string) {
	t.Helper()
	classes = map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(drawing))
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return classes, b.String()
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, drawing)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "class" {
					for class := range strings.FieldsSeq(a.Value) {
						classes[class]++
					}
				}
				if a.Name.Local == "href" || strings.Contains(a.Value, "://") && a.Name.Local != "xmlns" {
					t.Errorf("<%s %s=%q> would be fetched", token.Name.Local, a.Name.Local, a.Value)
				}
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") {
					t.Errorf("<%s> has a script in %s", token.Name.Local, a.Name.Local)
				}
			}
			if token.Name.Local == "script" || token.Name.Local == "image" || token.Name.Local == "foreignObject" {
				t.Errorf("there is a <%s>", token.Name.Local)
			}
		case xml.CharData:
			b.Write(token)
			b.WriteString("\n")
		}
	}
}

func TestSVGHoldsEveryNode(t *testing.T) {
	sub := closure(t, pipeline(), eval, lineage.Query{})
	classes, text := parts(t, drawSVG(t, sub))
	if classes["node"] != len(sub.Nodes) || classes["root"] != 1 || classes["missing"] != 1 || classes["failed"] != 0 {
		t.Errorf("drawn are %v, want %d nodes, one of them the root, one missing", classes, len(sub.Nodes))
	}
	for i := range sub.Nodes {
		if !strings.Contains(text, sub.Nodes[i].ID) {
			t.Errorf("no tooltip tells of %s", sub.Nodes[i].ID)
		}
	}
	for _, words := range []string{"succeeded · test_accuracy 0.9722", "SUCCEEDED 4", "dataset 1", "model.gob", "no record here 1"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q does not stand in the drawing", words)
		}
	}
}

// A long chain stands in a frame, in its order, however wide it would be otherwise; what branches off it does not.
func TestSVGFoldsChains(t *testing.T) {
	var edges []tracker.Edge
	for i := range 999 {
		edges = append(edges, link(fmt.Sprintf("local://x/s-%04d", i), fmt.Sprintf("local://x/s-%04d", i+1), "m", ""))
	}
	edges = append(edges, link("local://x/s-0500", "local://x/side-1", "m", ""))
	sub := closure(t, lineage.New(nil, edges), "local://x/s-0000", lineage.Query{})
	drawing := drawSVG(t, sub)
	classes, text := parts(t, drawing)
	if classes["frame"] != 2 || classes["node"]+classes["chip"] != 1001 || classes["node"] != 4 || classes["back"] != 0 {
		t.Errorf("drawn are %v", classes)
	}
	var width float64
	_, after, _ := strings.Cut(string(drawing), `width="`)
	if _, err := fmt.Sscan(after[:strings.IndexByte(after, '"')], &width); err != nil || width > 6000 {
		t.Errorf("it is %v wide, %v", width, err)
	}
	for at, i := 0, 1; i < 500; i++ {
		found := strings.Index(text[at:], fmt.Sprintf("local://x/s-%04d", i))
		if found < 0 {
			t.Fatalf("step %d is not in its order", i)
		}
		at += found
	}
}

func TestSVGMarksCycles(t *testing.T) {
	ring := lineage.New(nil, []tracker.Edge{link("a", "b", "m", ""), link("b", "c", "m", ""), link("c", "a", "", ""), link("c", "c", "self", "")})
	classes, text := parts(t, drawSVG(t, closure(t, ring, "a", lineage.Query{})))
	if classes["back"] < 3 || !strings.Contains(text, "closes a cycle") {
		t.Errorf("the cycle is not marked: %v", classes)
	}
}

// sweeps is one dataset, of which n runs were made that are alike, and one that is evaluated.
func sweeps(n int) *lineage.Graph {
	var edges []tracker.Edge
	for i := range n {
		edges = append(edges, link(prepare, fmt.Sprintf("local://torchx/trial-%05d", i), "train.parquet", ""))
	}
	return lineage.New(nil, append(edges, link("local://torchx/trial-00000", eval, "model.gob", "")))
}

func TestSVGFramesWhatIsAlike(t *testing.T) {
	classes, text := parts(t, drawSVG(t, closure(t, sweeps(1000), prepare, lineage.Query{})))
	if classes["frame"] != 1 || classes["chip"] != 999 || classes["node"] != 3 || !strings.Contains(text, "999 runs like trial-…") {
		t.Errorf("drawn are %v, want a frame of 999 and three alone", classes)
	}
}

func TestSVGIsDeterministic(t *testing.T) {
	sub := closure(t, pipeline(), eval, lineage.Query{})
	want := drawSVG(t, sub)
	for range 5 {
		if got := drawSVG(t, sub); !bytes.Equal(got, want) {
			t.Fatal("two drawings of one lineage differ")
		}
	}
}

// FuzzSVG checks that no name changes what a drawing consists of.
func FuzzSVG(f *testing.F) {
	for _, seed := range []string{nasty, `"><script>alert(1)</script>`, "]]>", "&#0;", "a\x00b", "\ufffe", "数字", strings.Repeat("w", 300), "<!--", "a&amp;b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || text == "b" || text == "b?" || text == "?" {
			t.Skip("not three nodes")
		}
		classes, _ := parts(t, drawSVG(t, named(text)))
		if classes["node"] != 3 || classes["link"] != 2 {
			t.Errorf("drawn are %v, want three nodes and two links", classes)
		}
	})
}

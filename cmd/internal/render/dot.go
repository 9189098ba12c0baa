package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// shapes are Graphviz's for each kind of node.
var shapes = map[lineage.Kind]string{
	lineage.KindRun:      "box",
	lineage.KindArtifact: "note",
	lineage.KindDataset:  "cylinder",
	lineage.KindExternal: "folder",
	lineage.KindContent:  "note",
}

// fills are the colours of states in pictures, light enough for black text.
var fills = map[tracker.State]string{
	tracker.Succeeded: "#dcefdc",
	tracker.Failed:    "#f6d5d3",
	tracker.Cancelled: "#f5ead0",
	tracker.Lost:      "#f5ead0",
	tracker.Running:   "#d7e8f7",
}

// plainFill is the colour of all else.
const plainFill = "#f2f2f2"

func fill(n *lineage.Node) string {
	if n.Kind == lineage.KindRun && n.Run != nil && fills[n.Run.State] != "" {
		return fills[n.Run.State]
	}
	return plainFill
}

// dot prints the picture in Graphviz's language. Ids are the places of the nodes; the tooltip holds the real one.
func (p *picture) dot(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph lineage {\n  rankdir=LR;\n  bgcolor=white;\n")
	b.WriteString("  node [fontname=\"Helvetica\", fontsize=11, style=filled, color=\"#888888\"];\n")
	b.WriteString("  edge [fontname=\"Helvetica\", fontsize=10, color=\"#666666\"];\n")
	names := map[string]string{}
	for i := range p.sub.Nodes {
		n := &p.sub.Nodes[i]
		names[n.ID] = fmt.Sprintf("n%d", i)
		style := "filled"
		if n.Kind == lineage.KindRun {
			style += ",rounded"
		}
		if n.Missing {
			style += ",dashed"
		}
		width := 1
		if n.ID == p.sub.Root {
			width = 2
		}
		fmt.Fprintf(&b, "  n%d [label=%s, tooltip=%s, shape=%s, style=%q, fillcolor=%q, penwidth=%d];\n",
			i, dotQuote(p.lines(n)...), dotQuote(Sanitize(n.ID)), shapes[n.Kind], style, fill(n), width)
	}
	for _, a := range p.arrows {
		fmt.Fprintf(&b, "  %s -> %s", names[a.from], names[a.to])
		if label := a.label(); label != "" {
			fmt.Fprintf(&b, " [label=%s]", dotQuote(label))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// lines are what stands in the box of a node: its name, its state, its facts.
func (p *picture) lines(n *lineage.Node) []string {
	lines := []string{p.labels[n.ID]}
	if word := state(n); word != "" {
		lines = append(lines, word)
	}
	return append(lines, notes(n)...)
}

// dotEscapes keep text literal in a quoted string of Graphviz: it knows backslash escapes and HTML's entities there.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)

// dotQuote writes lines of sanitised text as one quoted string.
func dotQuote(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = dotEscapes.Replace(line)
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}

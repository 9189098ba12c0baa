package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// brackets are Mermaid's shapes for each kind of node.
var brackets = map[lineage.Kind][2]string{
	lineage.KindRun:      {`("`, `")`},
	lineage.KindArtifact: {`>"`, `"]`},
	lineage.KindDataset:  {`[("`, `")]`},
	lineage.KindExternal: {`["`, `"]`},
	lineage.KindContent:  {`>"`, `"]`},
}

// mermaid prints the picture as a Mermaid flowchart. Ids are the places of the nodes.
func (p *picture) mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	names := map[string]string{}
	for i := range p.sub.Nodes {
		n := &p.sub.Nodes[i]
		names[n.ID] = fmt.Sprintf("n%d", i)
		shape := brackets[n.Kind]
		fmt.Fprintf(&b, "  n%d%s%s%s:::%s\n", i, shape[0], mermaidText(p.lines(n)...), shape[1], class(n))
	}
	for _, a := range p.arrows {
		if label := a.label(); label != "" {
			fmt.Fprintf(&b, "  %s -->|\"%s\"| %s\n", names[a.from], mermaidText(label), names[a.to])
		} else {
			fmt.Fprintf(&b, "  %s --> %s\n", names[a.from], names[a.to])
		}
	}
	writeClasses(&b)
	if name := names[p.sub.Root]; name != "" {
		fmt.Fprintf(&b, "  style %s stroke-width:3px\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// class names the look of a node.
func class(n *lineage.Node) string {
	switch {
	case n.Missing:
		return "missing"
	case n.Kind == lineage.KindRun && n.Run != nil && fills[n.Run.State] != "":
		return strings.ToLower(string(n.Run.State))
	}
	return "plain"
}

func writeClasses(b *strings.Builder) {
	states := make([]string, 0, len(fills))
	for state := range fills {
		states = append(states, string(state))
	}
	slices.Sort(states)
	for _, state := range states {
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:#888888,color:#000000\n", strings.ToLower(state), fills[tracker.State(state)])
	}
	fmt.Fprintf(b, "  classDef plain fill:%s,stroke:#888888,color:#000000\n", plainFill)
	fmt.Fprintf(b, "  classDef missing fill:%s,stroke:#888888,color:#000000,stroke-dasharray:4\n", plainFill)
}

// mermaidText writes lines of sanitised text as the inside of a quoted label. Letters and digits stay, and a little
// punctuation between them; everything else becomes Mermaid's #code;, as it reads some signs as markup, lists, comments
// or placeholders of its own even within quotes.
func mermaidText(lines ...string) string {
	escaped := make([]string, len(lines))
	for i, line := range lines {
		var b strings.Builder
		runes := []rune(line)
		for j, r := range runes {
			if isWord(r) || between(runes, j) && strings.ContainsRune("-_./, ", r) {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
		escaped[i] = b.String()
	}
	return strings.Join(escaped, "<br/>")
}

// between reports whether the rune at i stands between two letters or digits, spaces behind it not counted.
func between(runes []rune, i int) bool {
	after := i + 1
	for after < len(runes) && runes[after] == ' ' && runes[i] == ',' {
		after++
	}
	return i > 0 && after < len(runes) && (isWord(runes[i-1]) || runes[i-1] == ',') && isWord(runes[after])
}

// isWord reports whether Mermaid takes a rune in a label as it is. U+FB02 is a letter that Mermaid itself uses to mark
// its escapes.
func isWord(r rune) bool {
	return r != '\ufb02' && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

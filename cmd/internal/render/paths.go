package render

import (
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Paths prints the ways from one node to another in one of LineageFormats. For people and in JSON the ways are listed;
// everything else draws what lies on them, as of a lineage.
func Paths(w io.Writer, p *lineage.Paths, f Format, s Style) error {
	switch f {
	case Tree:
		return drawPaths(w, p, s)
	case JSON:
		return Document(w, newWays(p, s.Completeness), f)
	}
	return Lineage(w, p.Sub, f, s)
}

// ways is the answer in JSON; docs/json.md tells of each field.
type ways struct {
	graph
	To       string     `json:"to"`
	Ways     [][]string `json:"ways"`
	Shortest *big.Int   `json:"shortest_ways"`
	More     bool       `json:"more"`
}

func newWays(p *lineage.Paths, c *Completeness) ways {
	doc := ways{graph: newGraph(p.Sub, c), To: p.To, Ways: p.Ways, Shortest: p.Shortest, More: p.More || p.Stopped}
	if doc.Ways == nil {
		doc.Ways = [][]string{}
	}
	return doc
}

// drawPaths writes each way as a list of nodes, with what flowed from one to the next.
func drawPaths(w io.Writer, p *lineage.Paths, s Style) error {
	pic := newPicture(p.Sub)
	between := map[[2]string]*arrow{}
	for _, a := range pic.arrows {
		between[[2]string{a.from, a.to}] = a
	}
	var b strings.Builder
	for i, way := range p.Ways {
		if i > 0 {
			b.WriteString("\n")
		}
		for j, id := range way {
			if j > 0 {
				b.WriteString("  ")
				if label := between[[2]string{way[j-1], id}].label(); label != "" {
					b.WriteString(label + " ")
				}
				b.WriteString("→ ")
			}
			b.WriteString(pic.line(id, s) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is a node with its state and chief facts.
func (p *picture) line(id string, s Style) string {
	n := p.nodes[id]
	text := p.labels[id]
	if word := state(n); word != "" {
		text += "  " + s.paint(tracker.State(word), word)
	}
	for _, note := range notes(n) {
		text += "  " + note
	}
	return text
}

// WaysNote says in a sentence how many ways there are.
func WaysNote(p *lineage.Paths, every bool) string {
	steps := count(len(p.Ways[0])-1, "step")
	text := fmt.Sprintf("%s, the shortest of %s", count(len(p.Ways), "way"), steps)
	switch {
	case !every && p.Shortest.IsInt64() && p.Shortest.Int64() == 1:
		text = "one shortest way, of " + steps
	case !every:
		text = fmt.Sprintf("%s shortest ways, of %s", p.Shortest, steps)
	}
	if bound := p.Bound(); bound != "" {
		text += "; " + bound
	}
	return text
}

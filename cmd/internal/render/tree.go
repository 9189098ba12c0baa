package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// maxLevels is how deep a tree is indented; what lies deeper is continued below, at the margin.
const maxLevels = 20

// tree draws the root, then what it was made from and what was made from it, as the query asked.
//
// Each node is drawn out once in a direction, as near to the root as its edges allow. Where it occurs again, a number
// refers to that place; so it does where a cycle closes and where a deep tree is continued.
func (p *picture) tree(w io.Writer, s Style) error {
	d := &drawing{picture: p, style: s, numbers: map[place]int{}, inCycle: map[string]int{}, drawn: map[*arrow]bool{}}
	for i, ids := range p.sub.Cycles() {
		for _, id := range ids {
			d.inCycle[id] = i + 1
		}
	}
	var rows []row
	of := ""
	if name := p.sub.Query.Artifact; name != "" {
		of = " of an artifact " + Sanitize(name)
	}
	if p.sub.Query.Up {
		rows = append(rows, d.section(true, "up: made from", "up: no sources"+of+" recorded")...)
	}
	if p.sub.Query.Down {
		rows = append(rows, d.section(false, "down: used by", "down: no uses"+of+" recorded")...)
	}
	d.write(append([]row{{node: p.sub.Root}}, rows...))
	if n := len(p.arrows) - len(d.drawn); n > 0 {
		fmt.Fprintf(&d.b, "links between these that are not drawn: %d (json, dot and mermaid have them)\n", n)
	}
	_, err := io.WriteString(w, d.b.String())
	return err
}

// drawing is a tree on its way to text.
type drawing struct {
	*picture
	style   Style
	b       strings.Builder
	numbers map[place]int   // of the nodes that are referred to
	inCycle map[string]int  // number of the cycle that a node is part of, from 1; 0 = none
	drawn   map[*arrow]bool // those that stand in some row
}

// place is where a node is drawn out: once for each direction, save the root, which heads both.
type place struct {
	node string
	up   bool
}

func (d *drawing) place(node string, up bool) place {
	return place{node, up && node != d.sub.Root}
}

// row is one line of a tree.
type row struct {
	prefix string
	arrow  *arrow // the one that led here; nil for a heading or a node at the margin
	node   string
	up     bool
	mark   mark
	text   string // a heading, with all else empty
}

// mark says why a node is not drawn out where it stands.
type mark int

const (
	drawnOut  mark = iota
	seeAbove       // it is drawn out elsewhere
	cycle          // likewise, and this arrow is part of a cycle
	continued      // it is drawn out further below, at the margin
	margin         // the place where it is continued
)

// section draws one direction.
func (d *drawing) section(up bool, head, nothing string) []row {
	steps := d.steps(up)
	if len(steps[d.sub.Root]) == 0 {
		return []row{{text: nothing}}
	}
	out := newOutline(d.sub.Root, steps, up)
	rows := []row{{text: head}}
	for i := 0; i < len(out.blocks); i++ { // grows on the way
		rows = append(rows, d.block(out, out.blocks[i], steps, up)...)
	}
	d.number(rows, up)
	return rows
}

// outline says where each node is drawn out.
type outline struct {
	under  map[string]*arrow // the arrow below which a node is drawn out
	blocks []string          // the nodes from which drawing starts at the margin, the root first
}

// newOutline finds the nearest place for each node, by breadth.
func newOutline(root string, steps map[string][]*arrow, up bool) *outline {
	out := &outline{under: map[string]*arrow{root: nil}, blocks: []string{root}}
	queue := []string{root}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, a := range steps[id] {
			next := a.far(up)
			if _, seen := out.under[next]; !seen {
				out.under[next] = a
				queue = append(queue, next)
			}
		}
	}
	return out
}

// pending is a row that has yet to be drawn, and its depth in the block.
type pending struct {
	row
	level  int
	indent string // of the rows below it
}

// block draws what hangs on a node, down to maxLevels.
func (d *drawing) block(out *outline, start string, steps map[string][]*arrow, up bool) []row {
	var rows []row
	if start != d.sub.Root {
		rows = append(rows, row{node: start, up: up, mark: margin})
	}
	stack := d.below(nil, pending{row: row{node: start}}, steps, up)
	for len(stack) > 0 {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		d.drawn[next.arrow] = true
		leaf := len(steps[next.node]) == 0
		switch {
		case leaf:
		case out.under[next.node] != next.arrow:
			next.mark = d.reference(next.arrow)
		case next.level == maxLevels:
			next.mark = continued
			out.blocks = append(out.blocks, next.node)
		default:
			stack = d.below(stack, next, steps, up)
		}
		rows = append(rows, next.row)
	}
	return rows
}

// below puts what hangs on a row onto the stack, the first on top.
func (d *drawing) below(stack []pending, parent pending, steps map[string][]*arrow, up bool) []pending {
	list := steps[parent.node]
	for i := len(list) - 1; i >= 0; i-- {
		branch, indent := "├─ ", "│  "
		if i == len(list)-1 {
			branch, indent = "└─ ", "   "
		}
		stack = append(stack, pending{
			row:    row{prefix: parent.indent + branch, arrow: list[i], node: list[i].far(up), up: up},
			level:  parent.level + 1,
			indent: parent.indent + indent,
		})
	}
	return stack
}

// reference is the mark of a row whose node is drawn out elsewhere.
func (d *drawing) reference(a *arrow) mark {
	if d.inCycle[a.from] != 0 && d.inCycle[a.from] == d.inCycle[a.to] {
		return cycle
	}
	return seeAbove
}

// number gives a number to each node that a row refers to, in the order in which they are drawn out.
func (d *drawing) number(rows []row, up bool) {
	wanted := map[string]bool{}
	for _, r := range rows {
		if r.mark == seeAbove || r.mark == cycle || r.mark == continued {
			wanted[r.node] = true
		}
	}
	if wanted[d.sub.Root] {
		d.assign(d.place(d.sub.Root, up))
	}
	for _, r := range rows {
		if wanted[r.node] && (r.mark == drawnOut || r.mark == margin) && r.text == "" {
			d.assign(d.place(r.node, up))
		}
	}
}

func (d *drawing) assign(at place) {
	if d.numbers[at] == 0 {
		d.numbers[at] = len(d.numbers) + 1
	}
}

func (d *drawing) write(rows []row) {
	for _, r := range rows {
		if r.text != "" {
			d.b.WriteString(r.text + "\n")
			continue
		}
		d.b.WriteString(r.prefix + d.arrowText(r) + d.nodeText(r) + d.markText(r) + "\n")
	}
}

// arrowText tells what flowed along the arrow of a row, and which way.
func (d *drawing) arrowText(r row) string {
	if r.arrow == nil {
		return ""
	}
	sign := "→ "
	if r.up {
		sign = "← "
	}
	if label := r.arrow.label(); label != "" {
		return label + " " + sign
	}
	return sign
}

// nodeText is the node of a row. Where it is only referred to, its name is enough.
func (d *drawing) nodeText(r row) string {
	n := d.nodes[r.node]
	text := d.labels[r.node]
	if r.mark == seeAbove || r.mark == cycle || r.mark == margin {
		return text
	}
	if word := state(n); word != "" {
		text += "  " + d.style.paint(tracker.State(word), word)
	}
	for _, note := range notes(n) {
		text += "  " + note
	}
	return text
}

func (d *drawing) markText(r row) string {
	n := d.numbers[d.place(r.node, r.up)]
	switch r.mark {
	case seeAbove:
		return fmt.Sprintf("  see [%d]", n)
	case cycle:
		return fmt.Sprintf("  see [%d], a cycle", n)
	case continued:
		return fmt.Sprintf("  continued at [%d]", n)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  [%d]", n)
}

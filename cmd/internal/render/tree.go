package render

import (
	"fmt"
	"io"
	"strings"
)

// maxLevels is how deep a tree is indented; what lies deeper is continued below, at the margin. On a narrow screen it
// is less.
const (
	maxLevels = 20
	minLevels = 4
)

// tree draws the root, then what it was made from and what was made from it, as the query asked.
//
// Each node is drawn out once in a direction, as near to the root as its edges allow. Where it occurs again, a number
// refers to that place; so it does where a cycle closes and where a deep tree is continued. Neighbours that are alike
// share a row, see twigs, unless the style wants all.
func (p *picture) tree(w io.Writer, s Style) error {
	d := &drawing{picture: p, style: s, numbers: map[place]int{}, inCycle: map[string]int{}, drawn: map[*arrow]bool{}, sorts: map[string]int{}, levels: maxLevels}
	if s.Width > 0 {
		d.levels = min(maxLevels, max(minLevels, (s.Width-50)/3))
	}
	if !s.All {
		for i, members := range p.alike() {
			for _, id := range members {
				d.sorts[id] = i
			}
		}
	}
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
	d.write(append([]row{{twig: alone(p.sub.Root)}}, rows...))
	d.remarks()
	_, err := io.WriteString(w, d.b.String())
	return err
}

// remarks tell what does not stand in the tree.
func (d *drawing) remarks() {
	if d.joined > 0 {
		fmt.Fprintf(&d.b, "%s that are alike share %s; --all draws each\n", count(d.joined, "node"), count(d.rows, "row"))
	}
	if n := len(d.arrows) - len(d.drawn); n > 0 {
		fmt.Fprintf(&d.b, "links between these that are not drawn: %d (json, dot, mermaid and svg have them)\n", n)
	}
}

// drawing is a tree on its way to text.
type drawing struct {
	*picture
	style   Style
	levels  int
	b       strings.Builder
	numbers map[place]int   // of the nodes that are referred to
	inCycle map[string]int  // number of the cycle that a node is part of, from 1; 0 = none
	drawn   map[*arrow]bool // those that stand in some row
	sorts   map[string]int  // equal for nodes that are alike

	last         int // number given
	joined, rows int // nodes that share a row, and the rows
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
	twig   *twig // nil for a heading
	up     bool
	mark   mark
	text   string // a heading, with all else empty
}

// mark says why a node is not drawn out where it stands.
type mark int

const (
	drawnOut  mark = iota
	seeOther       // it is drawn out elsewhere
	cycle          // likewise, and this arrow is part of a cycle
	continued      // it is drawn out further below, at the margin
	margin         // the place where it is continued
)

// section draws one direction.
func (d *drawing) section(up bool, head, nothing string) []row {
	out := newOutline(d.picture, d.sorts, up)
	if len(out.steps[d.sub.Root]) == 0 {
		return []row{{text: nothing}}
	}
	rows := []row{{text: head}}
	for i := 0; i < len(out.blocks); i++ { // grows on the way
		rows = append(rows, d.block(out, out.blocks[i])...)
	}
	d.number(rows, up)
	return rows
}

// pending is a row that has yet to be drawn, and its depth in the block.
type pending struct {
	row
	level  int
	indent string // of the rows below it
}

// block draws what hangs on a twig, down to the deepest level.
func (d *drawing) block(out *outline, start *twig) []row {
	var rows []row
	if start.nodes[0] != d.sub.Root {
		rows = append(rows, row{twig: start, up: out.up, mark: margin})
	}
	stack := d.below(nil, pending{row: row{twig: start}}, out)
	for len(stack) > 0 {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, a := range next.twig.arrows {
			d.drawn[a] = true
		}
		if n := len(next.twig.nodes); n > 1 {
			d.joined, d.rows = d.joined+n, d.rows+1
		}
		switch {
		case next.twig.elsewhere:
			next.mark = d.reference(next.twig)
		case !out.goesOn(next.twig):
		case next.level == d.levels:
			next.mark = continued
			out.blocks = append(out.blocks, next.twig)
		default:
			stack = d.below(stack, next, out)
		}
		rows = append(rows, next.row)
	}
	return rows
}

// below puts what hangs on a row onto the stack, the first on top.
func (d *drawing) below(stack []pending, parent pending, out *outline) []pending {
	list := out.twigs(parent.twig, d.style.All)
	for i := len(list) - 1; i >= 0; i-- {
		branch, indent := "├─ ", "│  "
		if i == len(list)-1 {
			branch, indent = "└─ ", "   "
		}
		stack = append(stack, pending{
			row:    row{prefix: parent.indent + branch, twig: list[i], up: out.up},
			level:  parent.level + 1,
			indent: parent.indent + indent,
		})
	}
	return stack
}

// reference is the mark of a row whose node is drawn out elsewhere.
func (d *drawing) reference(t *twig) mark {
	for _, a := range t.arrows {
		if d.inCycle[a.from] != 0 && d.inCycle[a.from] == d.inCycle[a.to] {
			return cycle
		}
	}
	return seeOther
}

// number gives a number to each twig that a row refers to, in the order in which they are drawn out.
func (d *drawing) number(rows []row, up bool) {
	wanted := map[string]bool{}
	for _, r := range rows {
		if r.twig != nil && len(r.twig.nodes) == 1 && (r.mark == seeOther || r.mark == cycle) || r.mark == continued {
			wanted[r.twig.nodes[0]] = true
		}
	}
	if wanted[d.sub.Root] {
		d.assign(alone(d.sub.Root), up)
	}
	for _, r := range rows {
		if r.twig == nil || r.mark != drawnOut && r.mark != margin {
			continue
		}
		for _, id := range r.twig.nodes {
			if wanted[id] {
				d.assign(r.twig, up)
				break
			}
		}
	}
}

// assign gives a twig the next number, unless it has one.
func (d *drawing) assign(t *twig, up bool) {
	n := d.numbers[d.place(t.nodes[0], up)]
	if n == 0 {
		d.last++
		n = d.last
	}
	for _, id := range t.nodes {
		d.numbers[d.place(id, up)] = n
	}
}

package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/layers"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// svgBox is one node of a drawing, or several that are alike.
type svgBox struct {
	members       []string
	lines         []string // what stands in it, the first one large
	width, height float64

	// Of several: how many stand side by side, and how large each is.
	across            int
	chipWide, chipTop float64
}

// Lengths of boxes.
const (
	boxIcon     = 26.0 // the room of the sign at the left
	boxRight    = 12.0
	widestBox   = 330.0
	widestSmall = 170.0
	chipHeight  = 18.0
	chipGap     = 5.0
	frameHead   = 38.0
	frameEdge   = 10.0
	widestChip  = 96.0
)

func (d *svgDrawing) newBox(members []string) *svgBox {
	b := &svgBox{members: members}
	if len(members) > 1 {
		d.frame(b)
		return b
	}
	n := d.nodes[members[0]]
	widest := widestBox
	if d.small {
		widest = widestSmall
	}
	b.lines = []string{fitText(d.labels[n.ID], widest-boxIcon-boxRight, d.nameText())}
	b.width = textWidth(b.lines[0], d.nameText())
	b.height = 26
	if d.small {
		b.height = 22
	} else if facts := d.facts(n, widest-boxIcon-boxRight); facts != "" {
		b.lines = append(b.lines, facts)
		b.width = max(b.width, textWidth(b.lines[1], noteText))
		b.height = 42
		if n.Kind == lineage.KindDataset {
			b.height = 46
		}
	}
	b.width = math.Ceil(b.width + boxIcon + boxRight)
	return b
}

// nameText is the look of names.
func (d *svgDrawing) nameText() textLook {
	if d.small {
		return smallText
	}
	return nameText
}

// facts are the second line of a box, as many as fit.
func (d *svgDrawing) facts(n *lineage.Node, width float64) string {
	text := strings.ToLower(state(n))
	for _, note := range notes(n) {
		if text != "" {
			note = text + " · " + note
		}
		if text == "" || textWidth(note, noteText) <= width {
			text = note
		}
	}
	return fitText(text, width, noteText)
}

// frame lays out several that are alike, in rows, about half as high as wide.
func (d *svgDrawing) frame(b *svgBox) {
	head, chip := d.kindred(b.members), 0.0
	if d.rows[b.members[0]] {
		head = fmt.Sprintf("%d nodes in a row, each made from the one before", len(b.members))
	}
	for _, id := range b.members {
		chip = max(chip, textWidth(d.chipName(b, id), chipText))
	}
	b.chipWide = math.Ceil(min(chip, widestChip) + 20)
	n := float64(len(b.members))
	b.across = int(math.Ceil(math.Sqrt(n * 1.6 * (chipHeight + chipGap) / (b.chipWide + chipGap))))
	b.across = max(min(3, len(b.members)), b.across)
	rows := (len(b.members) + b.across - 1) / b.across
	b.lines = []string{head, d.tally(b.members)}
	inner := max(float64(b.across)*(b.chipWide+chipGap)-chipGap, textWidth(head, nameText), textWidth(b.lines[1], noteText))
	b.width = math.Ceil(inner + 2*frameEdge)
	b.chipTop = frameHead
	if b.lines[1] == "" {
		b.chipTop = frameHead - 14
	}
	b.height = b.chipTop + float64(rows)*(chipHeight+chipGap) - chipGap + frameEdge
}

// chipName is a member of a frame, without what they have in common.
func (d *svgDrawing) chipName(b *svgBox, id string) string {
	name := strings.TrimPrefix(d.labels[id], Sanitize(d.stem(b.members[0])))
	if name == "" || d.rows[b.members[0]] {
		name = d.labels[id]
	}
	return fitText(name, widestChip, chipText)
}

func (d *svgDrawing) drawBox(b *svgBox, at layers.Point) {
	if len(b.members) > 1 {
		d.drawFrame(b, at)
		return
	}
	n := d.nodes[b.members[0]]
	fmt.Fprintf(&d.b, `<g class="%s" transform="translate(%s %s)"><title>%s</title>`, d.classes(n, "node"), px(at.X), px(at.Y), xml(d.tooltip(n)))
	if n.ID == d.sub.Root {
		fmt.Fprintf(&d.b, `<rect class="halo" x="-5" y="-5" width="%s" height="%s" rx="12"/>`, px(b.width+10), px(b.height+10))
	}
	contour(&d.b, n.Kind, b.width, b.height)
	sign(&d.b, n, 14, b.height/2)
	y, down := b.height/2+4, 0.0
	if n.Kind == lineage.KindDataset {
		down = 2.5 // below the lid
	}
	if len(b.lines) > 1 {
		y = 17.5
	}
	class := "name"
	if d.small {
		class = "small"
	}
	fmt.Fprintf(&d.b, `<text class="%s" x="%s" y="%s">%s</text>`, class, px(boxIcon), px(y+down), xml(b.lines[0]))
	if len(b.lines) > 1 {
		fmt.Fprintf(&d.b, `<text class="note" x="%s" y="%s">%s</text>`, px(boxIcon), px(33+down), xml(b.lines[1]))
	}
	d.b.WriteString("</g>\n")
}

func (d *svgDrawing) drawFrame(b *svgBox, at layers.Point) {
	fmt.Fprintf(&d.b, `<g class="frame" transform="translate(%s %s)"><title>%s</title>`, px(at.X), px(at.Y), xml(strings.Join(b.lines, "\n")))
	fmt.Fprintf(&d.b, `<rect class="around" width="%s" height="%s" rx="10"/>`, px(b.width), px(b.height))
	fmt.Fprintf(&d.b, `<text class="name" x="%s" y="17">%s</text>`, px(frameEdge), xml(b.lines[0]))
	if b.lines[1] != "" {
		fmt.Fprintf(&d.b, `<text class="note" x="%s" y="31">%s</text>`, px(frameEdge), xml(b.lines[1]))
	}
	d.b.WriteString("\n")
	for i, id := range b.members {
		n := d.nodes[id]
		x := frameEdge + float64(i%b.across)*(b.chipWide+chipGap)
		y := b.chipTop + float64(i/b.across)*(chipHeight+chipGap)
		fmt.Fprintf(&d.b, `<g class="%s" transform="translate(%s %s)"><title>%s</title><rect class="box" width="%s" height="%s" rx="4"/>`,
			d.classes(n, "chip"), px(x), px(y), xml(d.tooltip(n)), px(b.chipWide), px(chipHeight))
		d.b.WriteString(`<g transform="translate(9.5 9) scale(0.72)">`)
		sign(&d.b, n, 0, 0)
		fmt.Fprintf(&d.b, `</g><text class="tiny" x="17" y="12.5">%s</text></g>`+"\n", xml(d.chipName(b, id)))
	}
	d.b.WriteString("</g>\n")
}

// classes are the looks of a node.
func (d *svgDrawing) classes(n *lineage.Node, kind string) string {
	class := kind + " " + look(n)
	if n.Missing {
		class += " missing"
	}
	if n.ID == d.sub.Root {
		class += " root"
	}
	return class
}

// look names the colours of a node: those of its state if it is a run, else of its kind.
func look(n *lineage.Node) string {
	switch {
	case n.Kind != lineage.KindRun:
		return string(n.Kind)
	case n.Run == nil:
		return "unknown"
	}
	for _, s := range tracker.States() {
		if s == n.Run.State {
			return strings.ToLower(string(s))
		}
	}
	return "unknown"
}

// tooltip is all that is known of a node at a glance.
func (d *svgDrawing) tooltip(n *lineage.Node) string {
	lines := []string{Sanitize(n.ID)}
	if word := state(n); word != "" {
		lines = append(lines, word)
	}
	if n.Kind == lineage.KindRun && n.Run != nil {
		if name := name(n.Run); name != n.Label() {
			lines = append(lines, "name "+Sanitize(name))
		}
		if !n.Run.Started.IsZero() {
			lines = append(lines, "started "+brief(n.Run.Started))
		}
		if !n.Run.Ended.IsZero() {
			lines = append(lines, "ended "+brief(n.Run.Ended)+" after "+span(n.Run.Ended.Sub(n.Run.Started)))
		}
	}
	if n.URI != "" && n.URI != n.ID {
		lines = append(lines, Sanitize(n.URI))
	}
	if n.Digest != "" {
		lines = append(lines, Sanitize(n.Digest))
	}
	return strings.Join(append(lines, notes(n)...), "\n")
}

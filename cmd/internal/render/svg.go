package render

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/layers"
)

// The distances of a drawing, in pixels.
const (
	svgMargin = 28.0
	svgHead   = 62.0 // above the drawing: the title
	svgFoot   = 58.0 // below it: the legend
	svgGap    = 64.0 // between columns
	svgRow    = 16.0 // between boxes
)

// A drawing of more boxes than this is a drawing of small ones.
const maxRoomy = 90

// Links carry names where there are few of them; the others have them as a tooltip.
const maxNamedLinks = 60

// svg draws the picture, from left to right, with nothing that it would have to fetch. What is alike stands together in
// a frame. Everything has a tooltip.
func (p *picture) svg(w io.Writer) error {
	d := newSVG(p)
	d.draw()
	_, err := io.WriteString(w, d.b.String())
	return err
}

// svgDrawing is an SVG on its way to text.
type svgDrawing struct {
	*picture
	b      strings.Builder
	boxes  []*svgBox
	place  map[string]int  // of each node: the box that it is or stands in
	rows   map[string]bool // first nodes of chains that stand in one box
	links  []*arrow        // between boxes, all arrows of the picture from the one to the other
	placed *layers.Drawing
	small  bool
}

func newSVG(p *picture) *svgDrawing {
	groups, rows := p.chains(p.alike())
	d := &svgDrawing{picture: p, place: map[string]int{}, rows: rows, small: len(groups) > maxRoomy}
	for _, members := range groups {
		for _, id := range members {
			d.place[id] = len(d.boxes)
		}
		d.boxes = append(d.boxes, d.newBox(members))
	}
	links := d.merge()
	gap := svgGap
	if d.named() {
		for _, a := range d.links {
			gap = max(gap, min(textWidth(a.label(), linkText)+52, 3*svgGap))
		}
	}
	sizes := make([]layers.Box, len(d.boxes))
	for i, box := range d.boxes {
		sizes[i] = layers.Box{Width: box.width, Height: box.height}
	}
	row := svgRow
	if d.small {
		row = svgRow / 2
	}
	d.placed = layers.Place(sizes, links, layers.Options{Gap: gap, Row: row})
	return d
}

// merge joins the arrows between two boxes.
func (d *svgDrawing) merge() []layers.Link {
	var links []layers.Link
	at := map[layers.Link]int{}
	for _, a := range d.arrows {
		link := layers.Link{From: d.place[a.from], To: d.place[a.to]}
		if link.From == link.To && d.rows[d.boxes[link.From].members[0]] {
			continue // the order of the nodes tells it
		}
		i, ok := at[link]
		if !ok {
			i = len(links)
			at[link] = i
			links = append(links, link)
			d.links = append(d.links, &arrow{from: a.from, to: a.to, role: a.role, made: a.made})
		}
		d.links[i].join(a)
	}
	return links
}

// named says whether links carry their names.
func (d *svgDrawing) named() bool { return len(d.links) <= maxNamedLinks && !d.small }

func (d *svgDrawing) draw() {
	legend := d.legend()
	title, subtitle := d.title()
	width := max(d.placed.Width, legend.width, textWidth(title, titleText), textWidth(subtitle, noteText)) + 2*svgMargin
	height := d.placed.Height + svgHead + svgFoot + 2*svgMargin
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title">`+"\n",
		px(width), px(height), px(width), px(height))
	fmt.Fprintf(&d.b, "<title id=\"title\">%s</title>\n", xml(title))
	d.b.WriteString(svgStyle)
	d.b.WriteString(svgMarkers)
	fmt.Fprintf(&d.b, `<rect class="ground" width="%s" height="%s"/>`+"\n", px(width), px(height))
	fmt.Fprintf(&d.b, `<text class="title" x="%s" y="%s">%s</text>`+"\n", px(svgMargin), px(svgMargin+16), xml(title))
	fmt.Fprintf(&d.b, `<text class="note" x="%s" y="%s">%s</text>`+"\n", px(svgMargin), px(svgMargin+36), xml(subtitle))
	fmt.Fprintf(&d.b, `<g transform="translate(%s %s)">`+"\n", px(svgMargin), px(svgMargin+svgHead))
	d.drawLines()
	for i, box := range d.boxes {
		d.drawBox(box, d.placed.Boxes[i])
	}
	d.drawNames()
	d.b.WriteString("</g>\n")
	legend.draw(&d.b, svgMargin, height-svgMargin-12)
	d.b.WriteString("</svg>\n")
}

// title is what the drawing is of, and what it holds.
func (d *svgDrawing) title() (title, subtitle string) {
	q := d.sub.Query
	subtitle = "made from and used by"
	switch {
	case q.Up && !q.Down:
		subtitle = "made from"
	case q.Down && !q.Up:
		subtitle = "used by"
	}
	if q.Artifact != "" {
		subtitle += ", by artifact " + Sanitize(q.Artifact)
	}
	if q.Depth > 0 {
		subtitle += fmt.Sprintf(", up to %s away", count(q.Depth, "step"))
	}
	return "Lineage of " + d.labels[d.sub.Root], subtitle + " · " + count(len(d.sub.Nodes), "node") + " · " + count(len(d.arrows), "link")
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// px writes a length to a tenth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64)
}

// xml writes sanitised text as the content of an element.
func xml(text string) string { return html.EscapeString(text) }

// drawLines draws the links, under the boxes.
func (d *svgDrawing) drawLines() {
	d.b.WriteString("<g class=\"links\">\n")
	for _, l := range d.placed.Lines {
		class, ends := "link", ""
		switch {
		case l.Both:
			ends = ` marker-start="url(#head)" marker-end="url(#head)"`
		case l.Against:
			class += " back"
			if l.Head {
				ends = ` marker-start="url(#back)"`
			}
		case l.Head:
			ends = ` marker-end="url(#head)"`
		}
		fmt.Fprintf(&d.b, `<path class="%s" d="%s"%s><title>%s</title></path>`+"\n", class, curve(l), ends, xml(d.linkTitle(l)))
	}
	for _, i := range d.placed.Loops {
		place := d.place[d.links[i].from]
		at, box := d.placed.Boxes[place], d.boxes[place]
		x, y := at.X+box.width, at.Y+box.height/2
		fmt.Fprintf(&d.b, `<path class="link back" d="M%s %sc26 -22 26 18 0 6" marker-end="url(#back)"><title>%s</title></path>`+"\n",
			px(x), px(y-3), xml(Sanitize(d.links[i].label()+" used by itself")))
	}
	d.b.WriteString("</g>\n")
}

// curve is the path of a line. A head needs room before the box.
func curve(l layers.Line) string {
	var b strings.Builder
	mid := (l.C0 + l.C1) / 2
	fmt.Fprintf(&b, "M%s %s", px(l.X0), px(l.Y0))
	if l.C0 != l.X0 {
		fmt.Fprintf(&b, "H%s", px(l.C0))
	}
	if math.Abs(l.Y0-l.Y1) < 0.05 {
		fmt.Fprintf(&b, "H%s", px(l.X1))
		return b.String()
	}
	fmt.Fprintf(&b, "C%s %s %s %s %s %s", px(mid), px(l.Y0), px(mid), px(l.Y1), px(l.C1), px(l.Y1))
	if l.C1 != l.X1 {
		fmt.Fprintf(&b, "H%s", px(l.X1))
	}
	return b.String()
}

// linkTitle tells of the link of a line, or of how many it is part of.
func (d *svgDrawing) linkTitle(l layers.Line) string {
	if len(l.Links) > 1 && !l.Both {
		return fmt.Sprintf("%s, used by %d", d.name(d.links[l.Links[0]].from), len(l.Links))
	}
	a := d.links[l.Links[0]]
	text := d.name(a.from) + " → " + d.name(a.to)
	if label := a.label(); label != "" {
		text += "\n" + label
	}
	return text
}

// name is the label of a node, or of the frame that it is in.
func (d *svgDrawing) name(id string) string {
	if box := d.boxes[d.place[id]]; len(box.members) > 1 {
		return box.lines[0]
	}
	return d.labels[id]
}

// join adds what flows along another arrow.
func (a *arrow) join(other *arrow) {
	a.artifacts = append(a.artifacts, other.artifacts...)
	slices.Sort(a.artifacts)
	a.artifacts = slices.Compact(a.artifacts)
}

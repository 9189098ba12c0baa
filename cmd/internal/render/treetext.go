package render

import (
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

func (d *drawing) write(rows []row) {
	last := map[place]int{} // the row in which a node is drawn out
	for i, r := range rows {
		if r.twig != nil && (r.mark == drawnOut || r.mark == margin) {
			for _, id := range r.twig.nodes {
				last[d.place(id, r.up)] = i
			}
		}
	}
	for i, r := range rows {
		if r.twig == nil {
			d.b.WriteString(r.text + "\n")
			continue
		}
		above := last[d.place(r.twig.nodes[0], r.up)] < i
		d.b.WriteString(d.fit(d.words(r, above)) + "\n")
	}
}

// words are the parts of a line, in the order in which they stand.
type words struct {
	prefix, label, sign, name, state string
	paint                            tracker.State
	notes                            []string
	mark                             string
}

func (d *drawing) words(r row, above bool) words {
	w := words{prefix: r.prefix, mark: d.markText(r, above)}
	if len(r.twig.arrows) > 0 && r.mark != margin {
		w.label, w.sign = r.twig.label(), "→ "
		if r.up {
			w.sign = "← "
		}
		if w.label != "" {
			w.label += " "
		}
	}
	n := d.one(r.twig)
	if n == nil {
		w.name = d.kindred(r.twig.nodes)
		w.state = d.tally(r.twig.nodes)
		return w
	}
	w.name = d.labels[n.ID]
	if r.mark == seeOther || r.mark == cycle || r.mark == margin {
		return w // its name is enough
	}
	w.state, w.notes = state(n), notes(n)
	w.paint = tracker.State(w.state)
	return w
}

func (w words) width() int {
	n := width(w.prefix + w.label + w.sign + w.name + w.mark)
	for _, note := range append([]string{w.state}, w.notes...) {
		if note != "" {
			n += 2 + width(note)
		}
	}
	return n
}

// The least that stays of names and of what flows, in columns.
const (
	leastLabel = 8
	leastName  = 16
)

// fit writes a line, and where it is wider than the screen leaves notes away, then shortens what flows, then the name.
func (d *drawing) fit(w words) string {
	over := func() int { return w.width() - d.style.Width }
	if d.style.Width > 0 {
		for len(w.notes) > 0 && over() > 0 {
			w.notes = w.notes[:len(w.notes)-1]
		}
		if n := over(); n > 0 && w.label != "" {
			w.label = shorten(strings.TrimSuffix(w.label, " "), max(leastLabel, width(w.label)-1-n)) + " "
		}
		if n := over(); n > 0 {
			w.name = shorten(w.name, max(leastName, width(w.name)-n))
		}
	}
	line := w.prefix + w.label + w.sign + w.name
	if w.state != "" {
		line += "  " + d.style.paint(w.paint, w.state)
	}
	for _, note := range w.notes {
		line += "  " + note
	}
	return line + w.mark
}

// shorten takes away from the middle of sanitised text, down to that many columns.
func shorten(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	runes := []rune(text)
	for keep := len(runes) - 1; keep > 1; keep-- {
		tail := keep * 2 / 5
		short := string(runes[:keep-tail]) + "…" + string(runes[len(runes)-tail:])
		if width(short) <= columns {
			return short
		}
	}
	return "…"
}

func (d *drawing) markText(r row, above bool) string {
	n := d.numbers[d.place(r.twig.nodes[0], r.up)]
	where := "below"
	if above {
		where = "above"
	}
	switch {
	case r.mark == seeOther && len(r.twig.nodes) > 1:
		return "  … each drawn elsewhere"
	case r.mark == cycle && len(r.twig.nodes) > 1:
		return "  … each drawn elsewhere, cycles"
	case r.mark == seeOther:
		return fmt.Sprintf("  … as %s [%d]", where, n)
	case r.mark == cycle:
		return fmt.Sprintf("  … a cycle, as %s [%d]", where, n)
	case r.mark == continued:
		return fmt.Sprintf("  … continued at [%d]", n)
	case n == 0:
		return ""
	}
	return fmt.Sprintf("  [%d]", n)
}

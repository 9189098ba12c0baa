package render

import (
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// svgLegend explains the signs that a drawing has, with how many of each there are.
type svgLegend struct {
	entries []legendEntry
	width   float64
}

type legendEntry struct {
	look, shape, text string
	at                float64
}

const legendApart = 20

func (d *svgDrawing) legend() *svgLegend {
	l := &svgLegend{}
	counts, samples := map[string]int{}, map[string]*lineage.Node{}
	missing := 0
	for i := range d.sub.Nodes {
		n := &d.sub.Nodes[i]
		if n.Missing {
			missing++
			continue
		}
		key := look(n)
		counts[key]++
		samples[key] = n
	}
	for _, t := range legendLooks() {
		if counts[t] == 0 {
			continue
		}
		var shape strings.Builder
		sign(&shape, samples[t], 0, 0)
		l.add(t, shape.String(), fmt.Sprintf("%s %d", legendWord(t), counts[t]))
	}
	if missing > 0 {
		l.add("unknown", `<rect x="-7" y="-5" width="14" height="10" rx="3" class="ring" style="stroke-dasharray:3 2"/>`, fmt.Sprintf("no record here %d", missing))
	}
	if d.hasCycle() {
		l.add("", `<path class="link back" d="M-9 0 H9"/>`, "closes a cycle")
	}
	if len(d.rows) > 0 {
		l.add("", `<rect x="-8" y="-6" width="16" height="12" rx="3" class="around"/>`, "in a row: a chain, or alike")
	} else if d.hasFrame() {
		l.add("", `<rect x="-8" y="-6" width="16" height="12" rx="3" class="around"/>`, "alike: same links")
	}
	return l
}

// legendLooks is the order of a legend: states as they follow one another, then what is no run.
func legendLooks() []string {
	var list []string
	for _, s := range tracker.States() {
		list = append(list, strings.ToLower(string(s)))
	}
	return append(list, string(lineage.KindArtifact), string(lineage.KindDataset), string(lineage.KindExternal))
}

func legendWord(look string) string {
	switch look {
	case string(lineage.KindExternal):
		return "input"
	case string(lineage.KindDataset), string(lineage.KindArtifact):
		return look
	}
	return strings.ToUpper(look)
}

func (l *svgLegend) add(look, shape, text string) {
	if len(l.entries) > 0 {
		l.width += legendApart
	}
	l.entries = append(l.entries, legendEntry{look: look, shape: shape, text: text, at: l.width})
	l.width += 20 + textWidth(text, noteText)
}

func (l *svgLegend) draw(b *strings.Builder, x, y float64) {
	b.WriteString("<g class=\"legend\">\n")
	for _, e := range l.entries {
		fmt.Fprintf(b, `<g class="%s" transform="translate(%s %s)">%s<text class="note" x="14" y="4">%s</text></g>`+"\n",
			e.look, px(x+e.at+8), px(y), e.shape, xml(e.text))
	}
	b.WriteString("</g>\n")
}

func (d *svgDrawing) hasCycle() bool {
	if len(d.placed.Loops) > 0 {
		return true
	}
	for _, l := range d.placed.Lines {
		if l.Against || l.Both {
			return true
		}
	}
	return false
}

func (d *svgDrawing) hasFrame() bool {
	for _, b := range d.boxes {
		if len(b.members) > 1 {
			return true
		}
	}
	return false
}

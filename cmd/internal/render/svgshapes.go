package render

import (
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
)

// contour draws the edge of a node by its kind: a round box for a run, a cylinder for a dataset, a sheet with a
// turned corner for an artifact, a plain box with a tab for any other input.
func contour(b *strings.Builder, kind lineage.Kind, w, h float64) {
	const bow = 4
	switch kind {
	case lineage.KindDataset:
		fmt.Fprintf(b, `<path class="box" d="M0 %s a%s %d 0 0 1 %s 0 V%s a%s %d 0 0 1 -%s 0 Z"/>`,
			px(bow), px(w/2), bow, px(w), px(h-bow), px(w/2), bow, px(w))
		fmt.Fprintf(b, `<path class="edge" d="M0 %s a%s %d 0 0 0 %s 0"/>`, px(bow), px(w/2), bow, px(w))
	case lineage.KindArtifact:
		fmt.Fprintf(b, `<path class="box" d="M0 0 H%s l9 9 V%s H0 Z"/>`, px(w-9), px(h))
		fmt.Fprintf(b, `<path class="edge" d="M%s 0 v9 h9"/>`, px(w-9))
	case lineage.KindExternal:
		fmt.Fprintf(b, `<path class="box" d="M3 0 H%s L%s %s V%s H0 V3 Z"/>`, px(w), px(w), px(h), px(h))
		fmt.Fprintf(b, `<path class="edge" d="M%s 0 V%s"/>`, px(4.0), px(h))
	default:
		fmt.Fprintf(b, `<rect class="box" width="%s" height="%s" rx="8"/>`, px(w), px(h))
	}
}

// signs are the shapes of states, about twelve pixels wide around 0, 0.
var signs = map[tracker.State]string{
	tracker.Succeeded: `<circle class="sign" r="6"/><path class="mark" d="M-2.8 0.2 L-0.8 2.3 L3 -2"/>`,
	tracker.Failed:    `<path class="sign" d="M-2.5 -6 H2.5 L6 -2.5 V2.5 L2.5 6 H-2.5 L-6 2.5 V-2.5 Z"/><path class="mark" d="M-2.2 -2.2 L2.2 2.2 M2.2 -2.2 L-2.2 2.2"/>`,
	tracker.Cancelled: `<rect class="sign" x="-5.5" y="-5.5" width="11" height="11" rx="2"/><path class="mark" d="M-2.8 0 H2.8"/>`,
	tracker.Lost:      `<path class="sign" d="M0 -6.5 L6.3 5 H-6.3 Z"/><path class="mark" d="M0 -2.4 V1.4 M0 3.3 V3.4"/>`,
	tracker.Running:   `<circle class="ring" r="5.2"/><path class="sign" d="M-1.9 -3 L3.2 0 L-1.9 3 Z"/>`,
}

// The signs of what has none of these states.
const (
	waitingSign  = `<path class="ring" d="M0 -6 L6 0 L0 6 L-6 0 Z"/>`
	unknownSign  = `<circle class="ring" r="5"/>`
	datasetSign  = `<path class="ring" d="M-5 -3.4 a5 2 0 0 1 10 0 v6.8 a5 2 0 0 1 -10 0 Z M-5 -3.4 a5 2 0 0 0 10 0 M-5 0 a5 2 0 0 0 10 0"/>`
	inputSign    = `<path class="ring" d="M-4.5 -5.5 H1.5 L4.5 -2.5 V5.5 H-4.5 Z M-2 0 H2 M-2 2.6 H2"/>`
	artifactSign = `<path class="ring" d="M0 -6 L5.4 -3 V3 L0 6 L-5.4 3 V-3 Z M-5.4 -3 L0 0 L5.4 -3 M0 0 V6"/>`
)

// sign draws the shape for a node's state or kind.
func sign(b *strings.Builder, n *lineage.Node, x, y float64) {
	shape := unknownSign
	switch {
	case n.Kind == lineage.KindDataset:
		shape = datasetSign
	case n.Kind == lineage.KindExternal:
		shape = inputSign
	case n.Kind == lineage.KindArtifact:
		shape = artifactSign
	case n.Run != nil && signs[n.Run.State] != "":
		shape = signs[n.Run.State]
	case n.Run != nil && (n.Run.State == tracker.Submitted || n.Run.State == tracker.Pending || n.Run.State == tracker.Unsubmitted):
		shape = waitingSign
	}
	if x == 0 && y == 0 {
		b.WriteString(shape)
		return
	}
	fmt.Fprintf(b, `<g transform="translate(%s %s)">%s</g>`, px(x), px(y), shape)
}

// svgMarkers are the heads of links.
const svgMarkers = `<defs>
<marker id="head" viewBox="0 0 8 8" refX="7.6" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="head" d="M0 0.6 L8 4 L0 7.4 L1.8 4 Z"/></marker>
<marker id="back" viewBox="0 0 8 8" refX="7.6" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="backhead" d="M0 0.6 L8 4 L0 7.4 L1.8 4 Z"/></marker>
</defs>
`

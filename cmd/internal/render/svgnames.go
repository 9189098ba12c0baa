package render

import (
	"fmt"

	"github.com/heirloom-ml/heirloom/cmd/internal/layers"
)

// drawNames writes on the links what flows along them: near their heads, where each is alone, and not over one another.
func (d *svgDrawing) drawNames() {
	if !d.named() {
		return
	}
	var taken []rectangle
	for _, l := range d.placed.Lines {
		if !l.Head || len(l.Links) != 1 {
			continue
		}
		label := d.links[l.Links[0]].label()
		if label == "" {
			continue
		}
		label = fitText(label, l.C1-l.C0-2*nameEdge-12, linkText)
		at := freePlace(l, textWidth(label, linkText), &taken)
		fmt.Fprintf(&d.b, `<text class="flow" x="%s" y="%s">%s</text>`+"\n", px(at.X), px(at.Y-3.5), xml(label))
	}
}

// rectangle is the room of a text, by its middle.
type rectangle struct {
	middle        layers.Point
	width, height float64
}

const flowHeight = 13

// nameEdge is the room before and behind a text, for the head among others.
const nameEdge = 12

// freePlace finds a place over a line where a text covers no other, as near to the head of the line as there is one.
func freePlace(l layers.Line, width float64, taken *[]rectangle) layers.Point {
	last := l.C1 - nameEdge - width/2
	for x := last; x >= l.C0+nameEdge+width/2; x -= 12 {
		r := rectangle{layers.Point{X: x, Y: heightAt(l, x)}, width, flowHeight}
		if !r.hits(*taken) {
			*taken = append(*taken, r)
			return r.middle
		}
	}
	r := rectangle{layers.Point{X: last, Y: heightAt(l, last)}, width, flowHeight}
	*taken = append(*taken, r)
	return r.middle
}

func (r rectangle) hits(others []rectangle) bool {
	for _, o := range others {
		dx, dy := r.middle.X-o.middle.X, r.middle.Y-o.middle.Y
		if max(dx, -dx) < (r.width+o.width)/2 && max(dy, -dy) < (r.height+o.height)/2 {
			return true
		}
	}
	return false
}

// heightAt is the height of the curve that function curve writes, at a place between its ends.
func heightAt(l layers.Line, x float64) float64 {
	low, high := 0.0, 1.0
	for range 24 {
		t := (low + high) / 2
		u := 1 - t
		mid := (l.C0 + l.C1) / 2
		if u*u*u*l.C0+3*u*t*mid+t*t*t*l.C1 < x {
			low = t
		} else {
			high = t
		}
	}
	t := low
	u := 1 - t
	return u*u*(u+3*t)*l.Y0 + t*t*(t+3*u)*l.Y1
}

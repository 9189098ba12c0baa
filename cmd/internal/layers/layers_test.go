package layers_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/layers"
)

var options = layers.Options{Gap: 60, Row: 16}

// random is a graph of n boxes, mostly from left to right, with some cycles and loops.
func random(seed uint64, n, links int) ([]layers.Box, []layers.Link) {
	r := rand.New(rand.NewPCG(seed, 7))
	boxes := make([]layers.Box, n)
	for i := range boxes {
		boxes[i] = layers.Box{Width: 60 + 100*r.Float64(), Height: 20 + 80*r.Float64()}
	}
	list := make([]layers.Link, links)
	for i := range list {
		from, to := r.IntN(n), r.IntN(n)
		if from > to && r.IntN(8) > 0 {
			from, to = to, from
		}
		list[i] = layers.Link{From: from, To: to}
	}
	return boxes, list
}

func TestNothingOverlaps(t *testing.T) {
	for seed := range uint64(40) {
		boxes, links := random(seed, 5+int(seed)*3, int(seed)*5)
		d := layers.Place(boxes, links, options)
		for i, a := range d.Boxes {
			if a.X < 0 || a.Y < -0.01 || a.X+boxes[i].Width > d.Width+0.01 || a.Y+boxes[i].Height > d.Height+0.01 {
				t.Errorf("seed %d: box %d at %v of size %v is outside of %v × %v", seed, i, a, boxes[i], d.Width, d.Height)
			}
			for j := range i {
				b := d.Boxes[j]
				if a.X < b.X+boxes[j].Width && b.X < a.X+boxes[i].Width && a.Y < b.Y+boxes[j].Height+1 && b.Y < a.Y+boxes[i].Height+1 {
					t.Fatalf("seed %d: boxes %d and %d overlap: %v %v, %v %v", seed, j, i, b, boxes[j], a, boxes[i])
				}
			}
		}
	}
}

// Each link can be followed along its lines, from the right side of the one box to the left side of the other, or the
// other way round where it closes a cycle.
func TestLinesLeadFromBoxToBox(t *testing.T) {
	for seed := range uint64(40) {
		boxes, links := random(seed, 4+int(seed)*2, int(seed)*4)
		d := layers.Place(boxes, links, options)
		for i, link := range links {
			if link.From == link.To || i != first(links, link) {
				continue
			}
			if err := follow(d, boxes, link, i); err != nil {
				t.Errorf("seed %d: link %v: %v", seed, link, err)
			}
		}
	}
}

func first(links []layers.Link, link layers.Link) int {
	for i, l := range links {
		if l == link {
			return i
		}
	}
	return -1
}

func follow(d *layers.Drawing, boxes []layers.Box, link layers.Link, index int) error {
	left, right := link.From, link.To
	var mine []layers.Line
	for _, l := range d.Lines {
		for _, i := range l.Links {
			if i == index {
				mine = append(mine, l)
				if l.Against {
					left, right = link.To, link.From
				}
			}
		}
	}
	if len(mine) == 0 {
		return fmt.Errorf("it has no line")
	}
	if d.Boxes[left].X > d.Boxes[right].X {
		left, right = right, left
	}
	x, y, heads := d.Boxes[left].X+boxes[left].Width, d.Boxes[left].Y+boxes[left].Height/2, 0
	for range mine {
		found := false
		for _, l := range mine {
			if l.X0 == x && near(l.Y0, y) {
				x, y, found = l.X1, l.Y1, true
				if l.C0 > l.C1 || l.X0 > l.C0 || l.C1 > l.X1 {
					return fmt.Errorf("line %+v goes back", l)
				}
				if l.Head {
					heads++
				}
				break
			}
		}
		if !found {
			return fmt.Errorf("there is no line from %v, %v among %+v", x, y, mine)
		}
	}
	if x != d.Boxes[right].X || y < d.Boxes[right].Y || y > d.Boxes[right].Y+boxes[right].Height {
		return fmt.Errorf("it ends at %v, %v, not at box %d at %v", x, y, right, d.Boxes[right])
	}
	if heads != 1 {
		return fmt.Errorf("it has %d heads", heads)
	}
	return nil
}

func near(a, b float64) bool { return a-b < 0.01 && b-a < 0.01 }

func TestDeterministic(t *testing.T) {
	boxes, links := random(3, 60, 120)
	want := layers.Place(boxes, links, options)
	for range 5 {
		if got := layers.Place(boxes, links, options); !reflect.DeepEqual(got, want) {
			t.Fatal("two drawings of one graph differ")
		}
	}
}

// What can be drawn without crossings is: trees, ladders, and a comb.
func TestNoNeedlessCrossings(t *testing.T) {
	graphs := map[string][]layers.Link{"tree": nil, "ladder": nil, "mirror": {{From: 0, To: 3}, {From: 1, To: 2}}}
	for i := range 40 {
		graphs["tree"] = append(graphs["tree"], layers.Link{From: i, To: 2*i + 1}, layers.Link{From: i, To: 2*i + 2})
		graphs["ladder"] = append(graphs["ladder"], layers.Link{From: 2 * i, To: 2*i + 2}, layers.Link{From: 2*i + 1, To: 2*i + 3})
	}
	for name, links := range graphs {
		boxes := make([]layers.Box, 90)
		for i := range boxes {
			boxes[i] = layers.Box{Width: 80, Height: 30}
		}
		if d := layers.Place(boxes, links, options); d.Crossings != 0 {
			t.Errorf("%s: %d crossings", name, d.Crossings)
		}
	}
}

func TestACycleIsDrawnOnce(t *testing.T) {
	boxes := []layers.Box{{Width: 50, Height: 20}, {Width: 50, Height: 20}, {Width: 50, Height: 20}}
	d := layers.Place(boxes, []layers.Link{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 0}, {From: 1, To: 1}}, options)
	against := 0
	for _, l := range d.Lines {
		if l.Against {
			against++
		}
	}
	if against != 2 || !reflect.DeepEqual(d.Loops, []int{3}) { // two columns wide
		t.Errorf("%d parts of lines run against the others, loops %v: %+v", against, d.Loops, d.Lines)
	}
}

func TestNothingToDraw(t *testing.T) {
	if d := layers.Place(nil, nil, options); len(d.Boxes) != 0 || d.Width != 0 {
		t.Errorf("%+v", d)
	}
}

// A chain longer than any stack, and a fan wider than any screen.
func TestLargeGraphs(t *testing.T) {
	const n = 5000
	var chain, fan []layers.Link
	for i := range n - 1 {
		chain = append(chain, layers.Link{From: i, To: i + 1})
		fan = append(fan, layers.Link{From: 0, To: i + 1})
	}
	boxes := make([]layers.Box, n)
	for i := range boxes {
		boxes[i] = layers.Box{Width: 100, Height: 22}
	}
	if d := layers.Place(boxes, chain, options); d.Height > 23 {
		t.Errorf("a chain is %v high", d.Height)
	}
	if d := layers.Place(boxes, fan, options); d.Crossings != 0 {
		t.Errorf("a fan has %d crossings", d.Crossings)
	}
}

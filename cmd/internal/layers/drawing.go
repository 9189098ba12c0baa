package layers

// Box is something to place, by its size.
type Box struct{ Width, Height float64 }

// Link leads from one box to another, or to itself. Both are places in the list of boxes.
type Link struct{ From, To int }

// Options are distances. All must be above zero.
type Options struct {
	Gap float64 // between columns, at least
	Row float64 // between boxes of a column
}

// Drawing is where all lies. The upper left corner is 0, 0.
type Drawing struct {
	Boxes         []Point // the upper left corner of each box
	Lines         []Line  // in order of their links
	Loops         []int   // links from a box to itself, which have no line
	Crossings     int     // of lines
	Width, Height float64
}

// Point is a place.
type Point struct{ X, Y float64 }

// Line is a part of one link or several, from one column to the next: level from X0 to C0 at the height Y0, a curve to
// C1, Y1, and level to X1.
type Line struct {
	X0, Y0, C0, C1, X1, Y1 float64
	Links                  []int // whose line it is, rising
	Head                   bool  // it arrives at the box its one link leads to
	Against                bool  // its link runs from right to left, as it closes a cycle: the head is at X0
	Both                   bool  // it carries links of both directions, and has two heads
}

// Place draws boxes and links. A link that is given twice has one line.
func Place(boxes []Box, links []Link, o Options) *Drawing {
	p := &plan{boxes: boxes, links: links, opts: o}
	p.orient()
	p.rank()
	p.route()
	p.order()
	p.level()
	return p.draw()
}

// plan is a drawing in the making.
type plan struct {
	boxes []Box
	links []Link
	opts  Options

	arcs  []arc
	loops []int

	column []int // of each box

	stops   []stop
	spans   []span
	columns [][]int // stops from the top

	crossings int
}

// arc is a link, or several equal ones, turned so that the arcs have no cycle.
type arc struct {
	from, to int
	link     int // the first of them
	against  bool
}

// stop is a box, or a point at which a line passes a column.
type stop struct {
	box    int // noBox where a line passes
	column int
	height float64
	y      float64 // of the middle
	place  int     // in its column, from the top

	in, out []int // spans
}

const noBox = -1

// span is a line between stops of neighbouring columns.
type span struct {
	from, to int // stops
	links    []int
	against  bool // all of them run from right to left
	both     bool // some do, others do not
}

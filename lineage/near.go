package lineage

import "slices"

// maxNear is how many near matches an error names.
const maxNear = 3

// Nearest finds the labels that differ from a text by few letters. A label may be meant by its beginning up to any "-"
// or "@": without the random end of a run id, or the version of an input.
type Nearest struct {
	text       string
	byDistance [][]string
}

// NewNearest looks for labels near a text: one letter in three may differ.
func NewNearest(text string) *Nearest {
	return &Nearest{text: text, byDistance: make([][]string, max(1, len([]rune(text))/3)+1)}
}

// See considers a label.
func (n *Nearest) See(label string) {
	limit := len(n.byDistance) - 1
	d := limit + 1
	for _, beginning := range beginnings(label) {
		d = min(d, distance(n.text, beginning, limit))
	}
	if d <= limit && len(n.byDistance[d]) < maxNear && !slices.Contains(n.byDistance[d], label) {
		n.byDistance[d] = append(n.byDistance[d], label)
	}
}

// List is the nearest labels, of equally near ones those that were seen first.
func (n *Nearest) List() []string {
	near := slices.Concat(n.byDistance...)
	return near[:min(len(near), maxNear)]
}

// beginnings lists a label and its parts before each "-" and "@".
func beginnings(label string) []string {
	list := []string{label}
	for i, r := range label {
		if (r == '-' || r == '@') && i > 0 {
			list = append(list, label[:i])
		}
	}
	return list
}

// distance is the least number of letters to insert, delete or replace, or to swap with their neighbour, that turn a
// into b; limit+1 where it is more than limit (optimal string alignment).
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(x[i-1], y[j-1]))
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(y)], limit+1)
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

package benchlineage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// result is what a question or a job took at one size.
type result struct {
	row, tool string
	runs      int
	took      usage.Usage
	inside    time.Duration // the question alone, as the tool itself says; 0 = it does not
	requests  string        // "" = not counted
	found     string        // what was printed of it
}

type results struct {
	sizes []int
	list  []result
}

// String is the table in Markdown: a line for each row and tool with a column for each size. Then come the curve and the
// ratios.
func (r *results) String() string {
	var b strings.Builder
	b.WriteString("\nmilliseconds of the whole process (of the question alone), requests, MiB at the most\n\n| | by |")
	for _, runs := range r.sizes {
		fmt.Fprintf(&b, " %d runs |", runs)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.sizes)) + "\n")
	for _, line := range r.lines() {
		fmt.Fprintf(&b, "| %s | %s |", line[0], line[1])
		for _, runs := range r.sizes {
			fmt.Fprintf(&b, " %s |", r.cell(line[0], line[1], runs))
		}
		b.WriteString("\n")
	}
	return b.String() + r.curve() + r.ratios()
}

// lines are the pairs of row and tool, in the order in which they were measured.
func (r *results) lines() [][2]string {
	var lines [][2]string
	for _, one := range r.list {
		if line := [2]string{one.row, one.tool}; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(x, y [2]string) int { // the tools of a row together
		return slices.IndexFunc(lines, func(l [2]string) bool { return l[0] == x[0] }) -
			slices.IndexFunc(lines, func(l [2]string) bool { return l[0] == y[0] })
	})
	return lines
}

func (r *results) find(row, tool string, runs int) (result, bool) {
	for _, one := range r.list {
		if one.row == row && one.tool == tool && one.runs == runs {
			return one, true
		}
	}
	return result{}, false
}

func (r *results) cell(row, tool string, runs int) string {
	one, ok := r.find(row, tool, runs)
	if !ok {
		return "-"
	}
	text := milliseconds(one.took.Wall)
	if one.inside > 0 {
		text += " (" + milliseconds(one.inside) + ")"
	}
	if one.requests != "" {
		text += ", " + one.requests + " req"
	}
	return text + fmt.Sprintf(", %d MiB", one.took.Peak>>20)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.0f", float64(d)/float64(time.Millisecond))
}

// curve draws how the time of each question grows: a bar for each size, on a scale of powers of ten.
func (r *results) curve() string {
	var b strings.Builder
	b.WriteString("\nwhole process, 1 ms to 1,000 s, a mark each tenth of a power of ten\n")
	for _, line := range r.lines() {
		for _, runs := range r.sizes {
			one, ok := r.find(line[0], line[1], runs)
			if !ok {
				continue
			}
			marks := int(10 * math.Log10(max(1, float64(one.took.Wall)/float64(time.Millisecond))))
			fmt.Fprintf(&b, "%-34s %-9s %8d %s %s\n", line[0], line[1], runs, strings.Repeat("#", marks), milliseconds(one.took.Wall))
		}
	}
	return b.String()
}

// ratios compares each other tool's time with heirloom's: of whole processes, and of the other's question alone with
// heirloom's whole process.
func (r *results) ratios() string {
	var b strings.Builder
	b.WriteString("\nhow many times longer the other takes: whole process, and its question alone beside heirloom's whole process\n")
	for _, one := range r.list {
		ours, ok := r.find(one.row, "heirloom", one.runs)
		if !ok || one.tool == "heirloom" {
			continue
		}
		fmt.Fprintf(&b, "%-34s %-9s %8d %9.1f %9.1f\n", one.row, one.tool, one.runs, ratio(one.took.Wall, ours.took.Wall), ratio(one.inside, ours.took.Wall))
	}
	return b.String()
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

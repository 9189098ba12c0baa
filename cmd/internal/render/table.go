package render

import (
	"io"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// table prints aligned columns under a head, by their width on screen. Cells are sanitised, states coloured.
func (l List) table(w io.Writer, s Style) error {
	cells := l.texts()
	widths := make([]int, len(l.Columns))
	for _, line := range cells {
		for i, text := range line {
			widths[i] = max(widths[i], width(text))
		}
	}
	var b strings.Builder
	for r, line := range cells {
		for i, text := range line {
			gap := strings.Repeat(" ", widths[i]-width(text))
			if r > 0 {
				text = s.paintCell(l.Rows[r-1][i], text)
			}
			line[i] = align(text, gap, l.Columns[i].Right)
		}
		b.WriteString(strings.TrimRight(strings.Join(line, "  "), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// texts is the head and every row as text for people.
func (l List) texts() [][]string {
	head := make([]string, len(l.Columns))
	for i, column := range l.Columns {
		head[i] = Sanitize(column.Name)
		if !column.Exact {
			head[i] = strings.ToUpper(strings.ReplaceAll(head[i], "_", " "))
		}
	}
	cells := [][]string{head}
	for _, row := range l.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = brief(v)
		}
		cells = append(cells, line)
	}
	return cells
}

// paintCell colours a cell that holds a state.
func (s Style) paintCell(v any, text string) string {
	if state, ok := v.(tracker.State); ok {
		return s.paint(state, text)
	}
	return text
}

func align(text, gap string, right bool) string {
	if right {
		return gap + text
	}
	return text + gap
}

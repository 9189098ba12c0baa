package render

import (
	"encoding/csv"
	"io"
	"slices"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// List is rows of equal columns.
type List struct {
	Key     string // name of the list in its JSON document
	Columns []Column
	Total   []any           // a last row that a table alone has; nil = none
	Also    []pyjson.Member // further members of the JSON document, behind the list
	Rows    [][]any         // each with a cell per column: nil, bool, int, int64, float64, string and types of it, time.Time, []string, *pyjson.Object
}

// Column is one cell of each row.
type Column struct {
	Name  string   // in JSON and CSV, and in capitals at the head of a table
	Exact bool     // the name is the user's own, and stands as it is at the head of a table too
	Right bool     // aligned to the right in a table
	In    []Format // the formats that have it; nil = all
}

// Write prints the list in one of ListFormats: a table with two spaces between columns, one JSON document
// {Key: [{…}]}, one JSON object a line, or CSV with a header. JSON and CSV hold the whole values.
func (l List) Write(w io.Writer, f Format, s Style) error {
	if f == Table && l.Total != nil {
		l.Rows = append(slices.Clip(l.Rows), l.Total)
	}
	l = l.in(f)
	switch f {
	case Table:
		return l.table(w, s)
	case JSON:
		rows := make([]any, len(l.Rows))
		for i, row := range l.Rows {
			rows[i] = l.object(row)
		}
		members := append([]pyjson.Member{{Key: l.Key, Value: rows}}, l.Also...)
		return Document(w, pyjson.NewObject(members...), f)
	case JSONL:
		for _, row := range l.Rows {
			if err := Document(w, l.object(row), f); err != nil {
				return err
			}
		}
		return nil
	case CSV:
		return l.csv(w, s)
	}
	return unsupported(f, ListFormats)
}

// in keeps the columns that a format has.
func (l List) in(f Format) List {
	kept := List{Key: l.Key, Also: l.Also, Rows: make([][]any, len(l.Rows))}
	for c, column := range l.Columns {
		if column.In != nil && !slices.Contains(column.In, f) {
			continue
		}
		kept.Columns = append(kept.Columns, column)
		for r, row := range l.Rows {
			kept.Rows[r] = append(kept.Rows[r], row[c])
		}
	}
	return kept
}

func (l List) object(row []any) *pyjson.Object {
	o := &pyjson.Object{}
	for i, column := range l.Columns {
		o.Set(column.Name, plain(row[i]))
	}
	return o
}

func (l List) csv(w io.Writer, s Style) error {
	out := csv.NewWriter(w)
	record := make([]string, len(l.Columns))
	for i, column := range l.Columns {
		record[i] = s.cell(column.Name)
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range l.Rows {
		for i, v := range row {
			record[i] = s.cell(raw(v))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cell neutralises a cell of CSV if it goes to a terminal.
func (s Style) cell(text string) string {
	if s.Terminal {
		return Sanitize(text)
	}
	return text
}

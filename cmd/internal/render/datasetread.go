package render

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Rows are rows of a dataset, each value as JSON.
func Rows(columns []string, rows [][]json.RawMessage) (List, error) {
	l := List{Key: "rows"}
	for _, name := range columns {
		l.Columns = append(l.Columns, Column{Name: name, Exact: true})
	}
	for i, row := range rows {
		cells := make([]any, len(row))
		for j, text := range row {
			v, err := pyjson.Unmarshal(text)
			if err != nil {
				return List{}, fmt.Errorf("row %d, column %q: %w", i, columns[j], err)
			}
			cells[j] = v
			if _, number := v.(float64); number || isWhole(v) {
				l.Columns[j].Right = true
			}
		}
		l.Rows = append(l.Rows, cells)
	}
	return l, nil
}

func isWhole(v any) bool {
	_, whole := v.(int64)
	return whole
}

// DatasetCheck is what was found in one split, or in a directory.
type DatasetCheck struct {
	Split  string // "" where a path was given
	URL    string
	Path   func(store.Key) string // how the user names a file of it
	Report *dataset.CheckReport
}

// DatasetChecks are the findings, split by split.
func DatasetChecks(list []DatasetCheck) List {
	l := List{Key: "findings", Columns: []Column{{Name: "rule"}, {Name: "split"}, {Name: "path"}, {Name: "problem"}}}
	var splits []any
	for _, c := range list {
		for _, f := range c.Report.Findings {
			l.Rows = append(l.Rows, []any{string(f.Rule), textOrNull(c.Split), c.Path(f.Key), f.Problem})
		}
		splits = append(splits, pyjson.NewObject(
			pyjson.Member{Key: "split", Value: textOrNull(c.Split)},
			pyjson.Member{Key: "url", Value: c.URL},
			pyjson.Member{Key: "state", Value: string(c.Report.State)},
			pyjson.Member{Key: "manifest", Value: c.Report.Manifest != nil},
			pyjson.Member{Key: "files", Value: int64(c.Report.Files)},
			pyjson.Member{Key: "rows", Value: c.Report.Rows},
			pyjson.Member{Key: "bytes", Value: c.Report.Bytes},
			pyjson.Member{Key: "read_data", Value: c.Report.ReadData}))
	}
	l.Also = []pyjson.Member{{Key: "splits", Value: splits}}
	return l
}

// DatasetShown is a dataset with its splits, or a directory, which is one without a name.
type DatasetShown struct {
	Name        string // NAME@VERSION; "" = none
	Fingerprint string // "" = not staged
	Created     time.Time
	Splits      []DatasetSplit
}

// DatasetSplit is one directory of Parquet.
type DatasetSplit struct {
	Name        string // "" where a path was given
	URL         string
	Rows, Bytes int64
	Files       int
	Columns     []dataset.Field
	Statistics  []dataset.ColumnStatistics // of the columns that the files hold
	Manifest    *dataset.Manifest
	Notes       []string
}

// datasetDoc and what is in it are the JSON document of a dataset; fields are only ever added.
type datasetDoc struct {
	Name        *string    `json:"name"`
	Fingerprint *string    `json:"fingerprint"`
	Created     stamp      `json:"created"`
	Splits      []splitDoc `json:"splits"`
}

type splitDoc struct {
	Split   *string     `json:"split"`
	URL     string      `json:"url"`
	Rows    int64       `json:"rows"`
	Bytes   int64       `json:"bytes"`
	Files   int         `json:"files"`
	Epoch   *int64      `json:"epoch"`
	Notes   []string    `json:"notes"`
	Columns []columnDoc `json:"columns"`
}

type columnDoc struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Nullable bool    `json:"nullable"`
	Nulls    *int64  `json:"nulls"`
	Min      *string `json:"min"`
	Max      *string `json:"max"`
	Bytes    *int64  `json:"bytes"`
}

// ShowDataset prints a dataset as a table for people, or as one JSON document.
func ShowDataset(w io.Writer, d *DatasetShown, f Format, s Style) error {
	doc := datasetDoc{Name: maybe(d.Name), Fingerprint: maybe(d.Fingerprint), Created: stamp(d.Created)}
	for _, split := range d.Splits {
		doc.Splits = append(doc.Splits, split.document())
	}
	if f != Table {
		return Document(w, doc, f)
	}
	for i, split := range d.Splits {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := split.table(w, d, s); err != nil {
			return err
		}
	}
	return nil
}

func (d DatasetSplit) document() splitDoc {
	doc := splitDoc{Split: maybe(d.Name), URL: d.URL, Rows: d.Rows, Bytes: d.Bytes, Files: d.Files, Notes: append([]string{}, d.Notes...), Columns: []columnDoc{}}
	if d.Manifest != nil {
		doc.Epoch = &d.Manifest.Epoch
	}
	for _, field := range d.Columns {
		c := columnDoc{Name: field.Name, Type: field.Type, Nullable: field.Nullable}
		for _, stats := range d.Statistics {
			if stats.Name == field.Name {
				c.Nulls, c.Min, c.Max, c.Bytes = stats.Nulls, stats.Least, stats.Most, &stats.Bytes
			}
		}
		doc.Columns = append(doc.Columns, c)
	}
	return doc
}

// table prints a few lines and the columns.
func (d DatasetSplit) table(w io.Writer, of *DatasetShown, s Style) error {
	title := of.Name
	if title == "" {
		title = of.Fingerprint
	}
	if d.Name != "" {
		fmt.Fprintf(w, "%s, split %s\n", Sanitize(title), d.Name)
	}
	fmt.Fprintf(w, "%s\n%d rows, %d bytes in %s\n", Sanitize(d.URL), d.Rows, d.Bytes, count(d.Files, "file"))
	for _, note := range d.Notes {
		fmt.Fprintln(w, Sanitize(note))
	}
	fmt.Fprintln(w)
	l := List{Columns: []Column{{Name: "column"}, {Name: "type"}, {Name: "nulls", Right: true}, {Name: "min"}, {Name: "max"}, {Name: "bytes", Right: true}}}
	for _, c := range d.document().Columns {
		l.Rows = append(l.Rows, []any{c.Name, c.Type, orNone(c.Nulls), orNone(c.Min), orNone(c.Max), orNone(c.Bytes)})
	}
	return l.Write(w, Table, s)
}

// orNone is a cell that may be empty.
func orNone[T int64 | string](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

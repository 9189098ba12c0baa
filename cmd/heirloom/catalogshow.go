package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
)

func newCatalogShow(a *app) *cobra.Command {
	var engine string
	var names []string
	for _, e := range catalog.Engines() {
		names = append(names, string(e))
	}
	c := &cobra.Command{
		Use:   "show",
		Short: "show the tables of the catalog, and how to query them",
		Long: `Show the tables and columns of the newest version of the catalog, and what to paste into
DuckDB, Spark, Trino, pandas and Polars to have them under their names. With --for only
the latter, for one engine.

A version never changes, and goes some time after a newer one took its place: ask again
for the newest.`,
		Example: `  heirloom catalog show
  heirloom catalog show --for duckdb > views.sql && duckdb -init views.sql
  heirloom catalog show -o json`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			if engine != "" && !slices.Contains(names, engine) {
				return usagef(c.CommandPath(), "--for %q is none of %s", engine, strings.Join(names, ", "))
			}
			return a.catalogShow(c, catalog.Engine(engine))
		},
	}
	c.Flags().StringVar(&engine, "for", "", "only what to paste into `ENGINE`: duckdb, spark, trino, pandas or polars")
	register(c, "for", fixed(names))
	return c
}

// shownCatalog is what show prints; fields are only ever added.
type shownCatalog struct {
	Number        int64                      `json:"number"`
	AsOf          time.Time                  `json:"as_of"`
	Published     time.Time                  `json:"published"`
	Writer        string                     `json:"writer"`
	Bytes         int64                      `json:"bytes"`
	AncestryDepth *int                       `json:"ancestry_depth"` // null: complete
	Tables        []shownTable               `json:"tables"`
	Queries       map[catalog.Engine]*string `json:"queries"` // null: the engine does not read such a store
}

type shownTable struct {
	catalogTable
	Doc     string        `json:"doc"`
	Columns []shownColumn `json:"columns"`
}

type shownColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
	Doc      string `json:"doc"`
}

func (a *app) catalogShow(c *cobra.Command, engine catalog.Engine) error {
	format, p, err := a.formatHere(c.Context(), render.ListFormats)
	if err != nil {
		return err
	}
	m, err := catalog.Newest(c.Context(), p.store)
	if err != nil {
		return &advised{err: err, advice: "heirloom catalog publish makes one"}
	}
	if engine != "" && format == render.Table {
		text, err := catalog.Query(p.store, m, engine)
		if err == nil {
			_, err = fmt.Fprint(a.stdout, render.SanitizeLines(text))
		}
		return err
	}
	shown := p.shownCatalog(m)
	switch format {
	case render.Table:
		return a.printCatalog(p, m, shown)
	case render.CSV:
		return a.printList(shown.columns(), format)
	}
	return render.Document(a.stdout, shown, format)
}

// shownCatalog joins what the manifest says with what this program knows of the columns.
func (p place) shownCatalog(m *catalog.Manifest) shownCatalog {
	tables, bytes := p.catalogTables(m)
	shown := shownCatalog{Number: m.Number, AsOf: m.AsOf, Published: m.Published, Writer: m.Writer, Bytes: bytes, Queries: map[catalog.Engine]*string{}}
	if m.AncestryDepth > 0 {
		shown.AncestryDepth = &m.AncestryDepth
	}
	docs := map[string]string{}
	for _, t := range catalog.Tables() {
		docs[t.Name] = t.Doc
		for _, c := range t.Columns {
			docs[t.Name+"."+c.Name] = c.Doc
		}
	}
	for i, t := range m.Tables {
		table := shownTable{catalogTable: tables[i], Doc: docs[t.Table]}
		for _, c := range t.Columns {
			table.Columns = append(table.Columns, shownColumn{Name: c.Name, Type: c.Type, Nullable: c.Nullable, Doc: docs[t.Table+"."+c.Name]})
		}
		shown.Tables = append(shown.Tables, table)
	}
	for _, engine := range catalog.Engines() {
		shown.Queries[engine] = nil
		if text, err := catalog.Query(p.store, m, engine); err == nil {
			shown.Queries[engine] = &text
		}
	}
	return shown
}

// columns is the schema as a list.
func (s shownCatalog) columns() render.List {
	l := render.List{Key: "columns", Columns: []render.Column{{Name: "table"}, {Name: "column"}, {Name: "type"}, {Name: "nullable"}, {Name: "doc"}}}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			l.Rows = append(l.Rows, []any{t.Name, c.Name, c.Type, c.Nullable, c.Doc})
		}
	}
	return l
}

// printCatalog prints all of it for people.
func (a *app) printCatalog(p place, m *catalog.Manifest, shown shownCatalog) error {
	fmt.Fprintf(a.stdout, "version %d of %s\nas of %s\n", m.Number, p.store.KeyURL(catalog.Root(p.store.Layout())), m.AsOf.UTC().Format(time.RFC3339))
	if m.AncestryDepth > 0 {
		fmt.Fprintf(a.stdout, "ancestry goes up to depth %d\n", m.AncestryDepth)
	}
	for _, t := range shown.Tables {
		fmt.Fprintf(a.stdout, "\n%s: %s\n%s, %s\n\n", t.Name, t.Doc, count(int(t.Rows), "row"), render.Size(t.Bytes))
		l := render.List{Columns: []render.Column{{Name: "column"}, {Name: "type"}, {Name: "null"}, {Name: "meaning"}}}
		for _, c := range t.Columns {
			null := ""
			if c.Nullable {
				null = "null"
			}
			l.Rows = append(l.Rows, []any{c.Name, strings.TrimSuffix(c.Type, "[us, tz=UTC]"), null, c.Doc})
		}
		if err := a.printList(l, render.Table); err != nil {
			return err
		}
	}
	for _, engine := range catalog.Engines() {
		text := "It does not read such a store.\n"
		if query := shown.Queries[engine]; query != nil {
			text = *query
		}
		fmt.Fprintf(a.stdout, "\n=== %s\n%s", engine, render.SanitizeLines(text))
	}
	return nil
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
)

func newCatalogLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "list the versions of the catalog",
		Long: `List the versions of the catalog: the current one, those kept for whoever still reads
them, and those that were begun and not finished.`,
		Example: `  heirloom catalog ls
  heirloom catalog ls -o json`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.catalogLs(c) },
	}
}

func (a *app) catalogLs(c *cobra.Command) error {
	format, p, err := a.formatHere(c.Context(), render.ListFormats)
	if err != nil {
		return err
	}
	entries, err := catalog.List(c.Context(), p.store)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		a.note("no catalog in %s; heirloom catalog publish makes one", p.store.URL())
	}
	return a.printList(versionRows(entries), format)
}

func versionRows(entries []catalog.Entry) render.List {
	human, machine := []render.Format{render.Table}, []render.Format{render.JSON, render.JSONL, render.CSV}
	l := render.List{Key: "versions", Columns: []render.Column{
		{Name: "number", Right: true}, {Name: "state"}, {Name: "as_of"}, {Name: "published"}, {Name: "runs", Right: true},
		{Name: "bytes", Right: true, In: human}, {Name: "bytes", In: machine}, {Name: "writer"},
	}}
	for _, e := range entries {
		row := []any{e.Number, string(e.State), nil, nil, nil, render.Size(e.Bytes), e.Bytes, nil}
		if m := e.Manifest; m != nil {
			row[2], row[3], row[4], row[7] = m.AsOf, m.Published, rowsOf(m, "runs"), m.Writer
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
)

const catalogHelp = `The catalog is what the index knows of all runs as Parquet tables beside them, which
DuckDB, Spark, Trino, pandas and Polars query in place: runs, metadata, artifacts,
links, edges, ancestry, datasets, aliases. It is published as numbered versions that
never change. A machine that asks for the first time fills its index from the newest
version and reads only what changed since.`

func newCatalog(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use: "catalog", Short: "publish all runs as tables for SQL", Long: catalogHelp,
		Example: `  heirloom catalog publish
  heirloom catalog show --for duckdb
  heirloom catalog ls`,
	}, newCatalogPublish(a), newCatalogShow(a), newCatalogLs(a), newCatalogPrune(a))
}

// catalogTable is one table of a version in JSON.
type catalogTable struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	URL   string `json:"url"`
}

// catalogTables describes the tables of a version, and counts their bytes.
func (p place) catalogTables(m *catalog.Manifest) (list []catalogTable, bytes int64) {
	root := catalog.Root(p.store.Layout())
	for _, t := range m.Tables {
		list = append(list, catalogTable{Name: t.Table, Rows: t.File.Rows, Bytes: t.File.Bytes, URL: p.store.KeyURL(root.Join(t.File.Name))})
		bytes += t.File.Bytes
	}
	return list, bytes
}

// rowsOf is the number of rows of a table of a version; 0 if it has none of that name.
func rowsOf(m *catalog.Manifest, name string) int64 {
	if t := m.Table(name); t != nil {
		return t.File.Rows
	}
	return 0
}

// catalogRows are versions that went, or would go, as a list.
func catalogRows(list []catalog.Reclaimed) render.List {
	human, machine := []render.Format{render.Table}, []render.Format{render.JSON, render.JSONL, render.CSV}
	l := render.List{Key: "versions", Columns: []render.Column{
		{Name: "number", Right: true}, {Name: "bytes", Right: true, In: human}, {Name: "bytes", In: machine}, {Name: "why"},
	}}
	for _, r := range list {
		l.Rows = append(l.Rows, []any{r.Number, render.Size(r.Bytes), r.Bytes, r.Why})
	}
	return l
}

// catalogPolicy is the policy of the flags --grace and --keep; a grace of 0 that was asked for is none.
func catalogPolicy(c *cobra.Command) (catalog.Policy, error) {
	grace, err := c.Flags().GetDuration("grace")
	if err != nil {
		return catalog.Policy{}, err
	}
	keep, err := c.Flags().GetInt("keep")
	if err != nil {
		return catalog.Policy{}, err
	}
	if grace < 0 || keep < 1 {
		return catalog.Policy{}, usagef(c.CommandPath(), "--grace wants 0 or more, --keep 1 or more")
	}
	return catalog.Policy{Grace: grace, Now: grace == 0, Keep: keep}, nil
}

func registerCatalogPolicy(c *cobra.Command) {
	c.Flags().Duration("grace", dataset.DefaultGrace, "`TIME` that a version stays after a newer one took its place, and one that was begun after its last sign of life")
	c.Flags().Int("keep", catalog.DefaultKeep, "`N` newest versions that stay whatever their age")
}

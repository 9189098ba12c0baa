package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// catalogPolicyFlags say which versions go.
type catalogPolicyFlags struct {
	grace time.Duration
	keep  int
}

func (f *catalogPolicyFlags) register(flags *pflag.FlagSet) {
	f.grace = dataset.DefaultGrace
	ageFlag(flags, &f.grace, "grace", "`TIME` that a version stays after a newer one took its place, and one that was begun after its last sign of life")
	flags.IntVar(&f.keep, "keep", catalog.DefaultKeep, "`N` newest versions that stay whatever their age")
}

// policy is what the flags say; a grace of 0 that was asked for is none.
func (f *catalogPolicyFlags) policy(c *cobra.Command) (catalog.Policy, error) {
	if f.keep < 1 {
		return catalog.Policy{}, usagef(c.CommandPath(), "--keep is %d, want 1 or more", f.keep)
	}
	return catalog.Policy{Grace: f.grace, Now: f.grace == 0, Keep: f.keep}, nil
}

package benchdataset

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// selective is a condition that about 1 row in 10,000 meets, in every row group.
const selective = "price > 460"

// readCells are the jobs that only read.
func readCells() []cell {
	return []cell{
		{name: "start", in: "rows.parquet", step: "start", python: map[string]string{
			"pyarrow": "import pyarrow.dataset, pyarrow.csv, pyarrow.parquet\nprint(0)\n",
			"duckdb":  "import duckdb\nprint(duckdb.execute('select 0').fetchone()[0])\n",
		}},
		{name: "read all", in: "rows.parquet", step: "read", python: map[string]string{
			"pyarrow": pyarrowScan(""),
			"duckdb":  duckdbScan(`count(id), sum(price), max(city), max("at"), bool_or(clicked), max(length(note))`, ""),
		}},
		{name: "read two columns", in: "rows.parquet", step: "project", python: map[string]string{
			"pyarrow": pyarrowScan(`columns=["id", "price"]`),
			"duckdb":  duckdbScan("count(id), sum(price)", ""),
		}},
		{name: "read by a condition", in: "rows.parquet", step: "filter", python: map[string]string{
			"pyarrow": pyarrowScan(`filter=ds.field("price") > 460`),
			"duckdb":  duckdbScan(`count(id), max(city), max("at"), bool_or(clicked), max(length(note))`, "where price > 460"),
		}},
		{name: "open 1000 parts", in: "parts", step: "open", python: map[string]string{
			"pyarrow": `
import sys
import pyarrow.dataset as ds
print(ds.dataset(sys.argv[1], format="parquet").count_rows())
`, "duckdb": `
import sys
import duckdb
print(duckdb.execute("select sum(num_rows)::bigint from parquet_file_metadata(?)", [sys.argv[1] + "/*.parquet"]).fetchone()[0])
`}},
	}
}

// pyarrowScan decodes batch by batch, with all its threads, and keeps none.
func pyarrowScan(options string) string {
	return fmt.Sprintf(`
import sys
import pyarrow.dataset as ds
print(sum(b.num_rows for b in ds.dataset(sys.argv[1], format="parquet").to_batches(%s)))
`, options)
}

// duckdbScan has DuckDB look at every value that is read, since it passes over what nobody asks for.
func duckdbScan(values, where string) string {
	return fmt.Sprintf(`
import sys
import duckdb
duckdb.sql("set enable_progress_bar=false; set memory_limit='512MB'; set threads=2")
print(duckdb.execute('''select %s from read_parquet(?) %s''', [sys.argv[1]]).fetchone()[0])
`, values, where)
}

// read decodes rows and counts them.
func read(opts dataset.ReadOptions, where string) func(ctx context.Context, args []string) error {
	return func(ctx context.Context, args []string) error {
		s, err := store.Open(ctx, filepath.Dir(args[0]), nil)
		if err != nil {
			return err
		}
		defer s.Close()
		if where != "" {
			if opts.Where, err = dataset.ParsePredicate(where); err != nil {
				return err
			}
		}
		r, err := dataset.Open(ctx, s, store.Key(filepath.Base(args[0])))
		if err != nil {
			return err
		}
		rows := int64(0)
		for batch, err := range r.Batches(ctx, &opts) {
			if err != nil {
				return err
			}
			rows += batch.NumRows()
		}
		fmt.Println(rows)
		return nil
	}
}

// open counts rows by footers alone.
func open(ctx context.Context, args []string) error {
	s, err := store.Open(ctx, filepath.Dir(args[0]), nil)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := dataset.Open(ctx, s, store.Key(filepath.Base(args[0])))
	if err != nil {
		return err
	}
	fmt.Println(r.Rows())
	return nil
}

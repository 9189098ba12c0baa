package benchdataset

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// steps are what heirloom does in a process of its own, by name. Each is given the file to read and the directory to
// write to, and prints the number of rows.
func steps() map[string]func(ctx context.Context, args []string) error {
	return map[string]func(ctx context.Context, args []string) error{
		"stage":   stage,
		"read":    read(dataset.ReadOptions{}, ""),
		"project": read(dataset.ReadOptions{Columns: []string{"id", "price"}}, ""),
		"filter":  read(dataset.ReadOptions{}, selective),
		"open":    open,
		"start":   func(context.Context, []string) error { fmt.Println(0); return nil },
	}
}

// cells are all jobs. pyarrow streams, as whoever has little memory would let it; DuckDB may take 512 MB.
func cells() []cell {
	return append(readCells(), []cell{
		{name: "csv to parquet", in: "rows.csv", step: "stage", python: map[string]string{
			"pyarrow": `
import sys
import pyarrow.csv as csv, pyarrow.parquet as pq
rows = 0
with csv.open_csv(sys.argv[1], csv.ReadOptions(block_size=1 << 20)) as r, pq.ParquetWriter(sys.argv[2] + "/o.parquet", r.schema, compression="zstd") as w:
    for batch in r:
        rows += batch.num_rows
        w.write_batch(batch, row_group_size=1 << 20)
print(rows)
`, "duckdb": duckdbCopy("read_csv(?)")}},
		{name: "parquet to parquet", in: "rows.parquet", step: "stage", python: map[string]string{
			"pyarrow": `
import sys
import pyarrow.parquet as pq
rows = 0
r = pq.ParquetFile(sys.argv[1])
with pq.ParquetWriter(sys.argv[2] + "/o.parquet", r.schema_arrow, compression="zstd") as w:
    for i in range(r.num_row_groups):
        t = r.read_row_group(i)
        rows += t.num_rows
        w.write_table(t, row_group_size=1 << 20)
print(rows)
`, "duckdb": duckdbCopy("read_parquet(?)")}},
	}...)
}

func duckdbCopy(from string) string {
	return fmt.Sprintf(`
import sys
import duckdb
duckdb.sql("set enable_progress_bar=false; set memory_limit='512MB'; set preserve_insertion_order=true; set threads=2")
print(duckdb.execute("copy (from %s) to '" + sys.argv[2] + "/o.parquet' (format parquet, compression zstd)", [sys.argv[1]]).fetchone()[0])
`, from)
}

// stage makes a dataset of a file, as the command does.
func stage(ctx context.Context, args []string) error {
	debug.SetGCPercent(60)
	from, err := store.Open(ctx, filepath.Dir(args[0]), nil)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := store.Open(ctx, args[1], nil)
	if err != nil {
		return err
	}
	defer to.Close()
	in, err := dataset.OpenInputs(ctx, []dataset.Input{{Store: from, Key: store.Key(filepath.Base(args[0]))}}, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	d, _, err := dataset.Stage(ctx, to, dataset.Spec{Sources: in.Sources(), Options: in.Options()}, in.Produce)
	if err != nil {
		return err
	}
	fmt.Println(d.Commit.Splits[dataset.Train].Rows)
	return nil
}

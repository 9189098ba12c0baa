package dataset_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// statsScript defines a function that gives the statistics of the columns of a file's first row group, as pyarrow and
// as DuckDB find them, in one form: the number of nulls, the least value, and the greatest.
const statsScript = `
import json, sys
import duckdb
import pyarrow.dataset as ds, pyarrow.parquet as pq
def statistics(file):
    stats = {}
    meta = pq.read_metadata(file).row_group(0)
    for c in map(meta.column, range(meta.num_columns)):
        s = c.statistics
        stats[c.path_in_schema] = None if s is None else [s.null_count, str(s.min) if s.has_min_max else None, str(s.max) if s.has_min_max else None]
    found = {r[0].replace(", ", "."): [r[1], r[2], r[3]] for r in duckdb.execute(
        "select path_in_schema, stats_null_count, stats_min_value, stats_max_value from parquet_metadata(?) where row_group_id = 0", [file]).fetchall()}
    return stats, found
d = ds.dataset(sys.argv[1], format="parquet")
q = duckdb.execute("select * from read_parquet(?)", [sorted(d.files)]).fetch_arrow_table()
`

// enginesScript prints what pyarrow and DuckDB read in a directory, and what statistics they find, in one form: every
// value as text.
const enginesScript = statsScript + `
plain = lambda rows: [{k: None if v is None else str(v) for k, v in r.items()} for r in rows]
stats, found = statistics(sorted(d.files)[0])
print(json.dumps({"pyarrow": plain(d.to_table().to_pylist()), "duckdb": plain(q.to_pylist()), "stats": stats, "duckdbStats": found}))
`

type engines struct {
	Pyarrow, DuckDB    []map[string]*string
	Stats, DuckDBStats map[string][]any
}

// TestEnginesReadEveryType writes each type with and without nulls, with both codecs, over several row groups' worth
// of rows, and compares rows and statistics in pyarrow and DuckDB with what went in.
func TestEnginesReadEveryType(t *testing.T) {
	python := servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4")
	columns := "id:int64!,i8:int8,i16:int16,i32:int32,u8:uint8!,u16:uint16,u32:uint32!,u64:uint64,f32:float,f64:double!,b:bool,s:string,few:string!,d:date,t:timestamp[us],m:decimal(9,2),big:decimal(30,4)"
	var text strings.Builder
	for i := range 2000 {
		values := []any{i, i%256 - 128, i - 1000, i * -1000, i % 256, i, 4294967295 - i, uint64(18446744073709551615) - uint64(i), float32(i) / 4, float64(i) / 8,
			i%2 == 0, fmt.Sprintf("row %d ü", i), []string{"x", "y"}[i%2], fmt.Sprintf("2026-11-%02d", 1+i%30), fmt.Sprintf("2026-11-21 10:%02d:00.25", i%60),
			fmt.Sprintf("%d.%02d", i-1000, i%100), fmt.Sprintf("-%d0000000000.5", i+1)}
		for c, value := range values {
			if c > 0 {
				text.WriteByte(',')
			}
			if required := c == 0 || c == 4 || c == 6 || c == 9 || c == 12; required || (i+c)%7 != 0 {
				fmt.Fprint(&text, value)
			}
		}
		text.WriteByte('\n')
	}
	from := openStore(t, "mem://", nil)
	inputs := putTexts(t, from, map[string]string{"a.csv": text.String()}, "a.csv")
	for _, compression := range []string{"zstd", "snappy"} {
		in, err := dataset.OpenInputs(t.Context(), inputs, &dataset.InputOptions{NoHeader: true, Schema: schema(t, columns)})
		if err != nil {
			t.Fatal(err)
		}
		to := openStore(t, t.TempDir(), nil)
		d, _, err := dataset.Stage(t.Context(), to, dataset.Spec{Sources: in.Sources(), Files: dataset.FileOptions{Compression: compression}}, in.Produce)
		if err != nil {
			t.Fatal(err)
		}
		dir, _ := to.LocalPath(d.Commit.Splits[dataset.Train].Dir)
		out, err := exec.CommandContext(t.Context(), python, "-c", enginesScript, dir).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr(err))
		}
		var view engines
		if err := json.Unmarshal(out, &view); err != nil {
			t.Fatal(err)
		}
		checkEngines(t, view, strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), schema(t, columns))
		for name, stats := range view.Stats {
			if silent := name == "u16" || name == "u64"; silent != (stats == nil) {
				t.Errorf("statistics of %s: %v", name, stats)
			}
		}
		for name, want := range map[string]string{
			"id": "[0,0,1999]", "i32": "[286,-1998000,0]", "u32": "[0,4294965296,4294967295]", "few": `[0,"x","y"]`,
		} {
			for engine, stats := range map[string]any{"pyarrow": view.Stats[name], "duckdb": view.DuckDBStats[name]} {
				if got := strings.ReplaceAll(mustJSON(t, stats), `"`, ""); got != strings.ReplaceAll(want, `"`, "") {
					t.Errorf("%s: statistics of %s: %s, want %s", engine, name, got, want)
				}
			}
		}
	}
}

// checkEngines compares rows with the fields of CSV. Engines write reals, booleans and times otherwise than it does.
func checkEngines(t *testing.T, view engines, lines []string, list []dataset.Field) {
	t.Helper()
	for engine, rows := range map[string][]map[string]*string{"pyarrow": view.Pyarrow, "duckdb": view.DuckDB} {
		if len(rows) != len(lines) {
			t.Fatalf("%s reads %d rows, want %d", engine, len(rows), len(lines))
		}
		for i, line := range lines {
			for c, want := range strings.Split(line, ",") {
				got := ""
				if value := rows[i][list[c].Name]; value != nil {
					got = *value
				}
				if normal(got) != normal(want) {
					t.Fatalf("%s: row %d, column %s: %s, want %s", engine, i, list[c].Name, got, want)
				}
			}
		}
	}
}

func normal(text string) string {
	text = strings.ToLower(strings.TrimSuffix(text, "0000"))
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

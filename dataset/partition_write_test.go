package dataset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// partitioned has values that Hive escapes, and a null.
func partitioned() string {
	var out strings.Builder
	out.WriteString("id,city,day,n\n")
	cities := []string{"Berlin", "a/b=c", "", "Zürich 100%"}
	for i := range 400 {
		fmt.Fprintf(&out, "%d,%s,2026-11-%02d,%d\n", i, cities[i%4], 1+i%3, i%7)
	}
	return out.String()
}

// pythonRows prints what pyarrow and DuckDB read in a partitioned directory, in one form.
const pythonRows = `
import json, sys
import duckdb
import pyarrow.dataset as ds
columns = ["id", "city", "day", "n"]
key = lambda r: r["id"]
a = ds.dataset(sys.argv[1], format="parquet", partitioning=ds.partitioning(flavor="hive")).to_table().select(columns).to_pylist()
d = duckdb.execute("select id, city, day, n from read_parquet(?, hive_partitioning=true)", [sys.argv[1] + "/**/*.parquet"]).fetch_arrow_table().to_pylist()
plain = lambda rows: [{k: str(v) if k == "day" else v for k, v in r.items()} for r in sorted(rows, key=key)]
print(json.dumps({"pyarrow": plain(a), "duckdb": plain(d)}))
`

func TestPartitionedWriting(t *testing.T) {
	from, to := openStore(t, "mem://", nil), openStore(t, t.TempDir(), nil)
	in, err := dataset.OpenInputs(t.Context(), putTexts(t, from, map[string]string{"a.csv": partitioned()}, "a.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := dataset.Spec{Sources: in.Sources(), Files: dataset.FileOptions{PartitionBy: []string{"city", "day"}, Compression: "snappy"}}
	d, _, err := dataset.Stage(t.Context(), to, spec, in.Produce)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, to, d, dataset.Train)
	var dirs []string
	for _, file := range m.Files {
		dir := file.Name[:strings.LastIndexByte(file.Name, '/')]
		if !strings.HasSuffix(file.Name, "-c000.snappy.parquet") || slices.Contains(dirs, dir) {
			t.Errorf("file %s", file.Name)
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) != 12 || dirs[0] != "city=Berlin/day=2026-11-01" || dirs[1] != "city=a%2Fb%3Dc/day=2026-11-02" ||
		dirs[2] != "city=__HIVE_DEFAULT_PARTITION__/day=2026-11-03" || dirs[3] != "city=Zürich 100%25/day=2026-11-01" {
		t.Errorf("partitions %q", dirs)
	}
	if got := schemaOf(t, to, d, dataset.Train) + " | " + mustJSON(t, m.Partition); got !=
		`id:int64,n:int64 | [{"name":"city","type":"utf8","nullable":true},{"name":"day","type":"date32","nullable":true}]` {
		t.Errorf("schema %s", got)
	}
	dir, _ := to.LocalPath(d.Commit.Splits[dataset.Train].Dir)
	want := rowsById(t, rowsOf(t, to, d, dataset.Train))
	if len(want) != 400 {
		t.Fatalf("%d rows are read back", len(want))
	}
	out, err := exec.CommandContext(t.Context(), servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4"), "-c", pythonRows, dir).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(err))
	}
	var views map[string][]map[string]any
	if err := json.Unmarshal(out, &views); err != nil {
		t.Fatal(err)
	}
	for _, row := range views["duckdb"] { // which takes Hive's word for null for a text
		if row["city"] == dataset.HivePartitionNull {
			row["city"] = nil
		}
	}
	for name, rows := range views {
		if got := mustJSON(t, rows); got != mustJSON(t, want) {
			t.Errorf("%s reads %.600s\nwant %.600s", name, got, mustJSON(t, want))
		}
	}
}

// rowsById sorts rows in JSON by their ids.
func rowsById(t *testing.T, text string) []map[string]any {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal([]byte("["+strings.ReplaceAll(text, "\n", ",")+"]"), &rows); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b map[string]any) int { return int(a["id"].(float64) - b["id"].(float64)) })
	return rows
}

func TestPartitioningRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		by         []string
	}{
		"no such column":   {"a\n1\n", `"b"`, []string{"b"}},
		"nothing left":     {"a\n1\n", "no columns", []string{"a"}},
		"reals":            {"a,b\n1.5,1\n", "float64", []string{"a"}},
		"an empty text":    {"a,b\n\"\",1\n", "empty", []string{"a"}},
		"a column twice":   {"a,b\n1,1\n", "twice", []string{"a", "a"}},
		"too long a value": {"a,b\n" + strings.Repeat("x", 300) + ",1\n", "255", []string{"a"}},
	} {
		from := openStore(t, "mem://", nil)
		_, _, err := stageInputs(t, putTexts(t, from, map[string]string{"a.csv": test.text}, "a.csv"), nil, dataset.Spec{Files: dataset.FileOptions{PartitionBy: test.by}})
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

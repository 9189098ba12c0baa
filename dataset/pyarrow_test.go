package dataset_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// pyarrowScript prints what pyarrow finds in a directory: types, statistics and
// encodings of the first part, and all rows.
const pyarrowScript = `
import json, sys
import pyarrow.dataset as ds, pyarrow.parquet as pq
d = ds.dataset(sys.argv[1], format="parquet")
meta = pq.read_metadata(d.files[0])
columns = {}
for i in range(meta.num_columns):
    c = meta.row_group(0).column(i)
    s = c.statistics
    columns[c.path_in_schema] = {
        "compression": c.compression,
        "dictionary": c.has_dictionary_page,
        "nulls": s.null_count,
        "min": str(s.min) if s.has_min_max else None,
        "max": str(s.max) if s.has_min_max else None,
    }
print(json.dumps({
    "types": {f.name: str(f.type) for f in d.schema},
    "files": len(d.files),
    "rows": d.to_table().to_pylist(),
    "columns": columns,
}, default=str))
`

type pyarrowColumn struct {
	Compression string
	Dictionary  bool
	Nulls       int
	Min, Max    *string
}

type pyarrowView struct {
	Types   map[string]string
	Files   int
	Rows    []map[string]any
	Columns map[string]pyarrowColumn
}

func pyarrow(t *testing.T, python, dir string) pyarrowView {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-c", pyarrowScript, dir).Output()
	if err != nil {
		t.Fatalf("pyarrow: %v\n%s", err, stderr(err))
	}
	var view pyarrowView
	if err := json.Unmarshal(out, &view); err != nil {
		t.Fatal(err)
	}
	return view
}

func stderr(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// mixed has types with and without nulls, nested ones, and strings that repeat.
const mixed = `[
 {"id": 1, "price": 1.5,  "kind": "a", "when": "2026-11-21 10:00:00", "tags": ["x", "y"], "at": {"x": 1, "y": null}},
 {"id": 2, "price": null, "kind": "b", "when": null,                  "tags": [],         "at": {"x": 2, "y": "p"}},
 {"id": 3, "price": 2.5,  "kind": "a", "when": "1969-12-31 23:59:59", "tags": null,       "at": null},
 {"id": 4, "price": -1,   "kind": "b", "when": "2026-11-21 10:00:00", "tags": ["z"],      "at": {"x": null, "y": "ü"}},
 {"id": 5, "price": 0,    "kind": "a", "when": "2026-11-21 10:00:00", "tags": [null],     "at": {"x": 5, "y": "q"}},
 {"id": 6, "price": 9,    "kind": "b", "when": "2026-11-21 10:00:00", "tags": ["w"],      "at": {"x": 6, "y": "r"}},
 {"id": 7, "price": 9,    "kind": "a", "when": "2026-11-21 10:00:00", "tags": ["w"],      "at": {"x": 7, "y": "s"}},
 {"id": 8, "price": 9,    "kind": "b", "when": "2026-11-21 10:00:00", "tags": ["w"],      "at": {"x": 8, "y": "t"}}
]`

func mixedSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "kind", Type: arrow.BinaryTypes.String},
		{Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "at", Type: arrow.StructOf(
			arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}), Nullable: true},
	}, nil)
}

func TestPyarrowReadsWhatWeWrite(t *testing.T) {
	python := servers.Python(t, "pyarrow==21.0.0")
	root := t.TempDir()
	s := openStore(t, root, nil)
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, mixedSchema(), strings.NewReader(mixed))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	one := dataset.Spec{Sources: []dataset.Source{{URI: "mixed", Version: "1"}}}
	d, _, err := dataset.Stage(t.Context(), s, one, func(ctx context.Context, w *dataset.Writer) error {
		return w.Write(ctx, dataset.Train, rows)
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := d.Commit.Splits[dataset.Train].Dir
	path, _ := s.LocalPath(dir)
	view := pyarrow(t, python, path)

	for name, want := range map[string]string{
		"id": "int64", "price": "double", "kind": "string", "when": "timestamp[us, tz=UTC]",
		"tags": "list<element: string>", "at": "struct<x: int32, y: string>",
	} {
		if got := view.Types[name]; got != want {
			t.Errorf("column %s is a %s to pyarrow, want %s", name, got, want)
		}
	}
	checkMixedRows(t, view.Rows, rows)
	for name, column := range view.Columns {
		if column.Compression != "ZSTD" || column.Dictionary != (name == "kind") {
			t.Errorf("column %s: %+v", name, column)
		}
	}
	if c := view.Columns["price"]; c.Nulls != 1 || c.Min == nil || *c.Min != "-1.0" || *c.Max != "9.0" {
		t.Errorf("statistics of price: %+v", c)
	}
	if c := view.Columns["id"]; c.Min == nil || *c.Min != "1" || *c.Max != "8" {
		t.Errorf("statistics of id: %+v", c)
	}
	checkReadBack(t, s, dir, rows)
}

// checkMixedRows compares by way of JSON: the rows as Arrow writes them, and as
// pyarrow does. The two write times differently.
func checkMixedRows(t *testing.T, got []map[string]any, rows arrow.Record) {
	t.Helper()
	body, err := rows.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if when, ok := want[i]["when"].(string); ok {
			want[i]["when"] = when[:19] + "+00:00"
		}
	}
	if mustJSON(t, got) != mustJSON(t, want) {
		t.Errorf("pyarrow reads %s\nwant %s", mustJSON(t, got), mustJSON(t, want))
	}
}

// checkReadBack reads the rows again ourselves, nested ones too.
func checkReadBack(t *testing.T, s *store.Store, dir store.Key, rows arrow.Record) {
	t.Helper()
	r, err := dataset.Open(t.Context(), s, dir)
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range r.Batches(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if mustJSON(t, batch) != mustJSON(t, rows) {
			t.Errorf("we read %s\nwant %s", mustJSON(t, batch), mustJSON(t, rows))
		}
	}
}

package dataset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

const tableColumns = "id:string!,n:int64,x:double,yes:bool,at:timestamp[us, tz=UTC],small:int32!"

// tableRows are n rows from a number on; every third value of those that may be is null.
func tableRows(from, n int) dataset.Table {
	var ids []string
	var ints, times []int64
	var reals []float64
	var bools, valid []bool
	var small []int32
	for i := from; i < from+n; i++ {
		ids, ints, reals = append(ids, fmt.Sprintf("run-%06d", i)), append(ints, int64(i)<<33), append(reals, float64(i)/8)
		bools, times, small = append(bools, i%2 == 0), append(times, int64(i)*1_000_001), append(small, int32(i))
		valid = append(valid, i%3 != 0)
	}
	return dataset.Table{
		{Name: "id", Values: ids}, {Name: "n", Values: ints, Valid: valid}, {Name: "x", Values: reals, Valid: valid},
		{Name: "yes", Values: bools, Valid: valid}, {Name: "at", Values: times, Valid: valid}, {Name: "small", Values: small},
	}
}

func writeTable(t *testing.T, s *store.Store, key store.Key, pieces ...dataset.Table) dataset.File {
	t.Helper()
	w, err := dataset.NewTableWriter(s, key, schema(t, tableColumns))
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range pieces {
		if err := w.Write(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	file, err := w.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

const tableScript = `
import json, sys
import duckdb, pyarrow.parquet as pq
meta = pq.read_metadata(sys.argv[1])
t = pq.read_table(sys.argv[1])
pick = lambda t: [{k: None if v is None else str(v) for k, v in r.items()} for r in t.slice(0, 4).to_pylist()]
q = duckdb.execute("set timezone='UTC'; select * from read_parquet(?)", [sys.argv[1]]).fetch_arrow_table()
print(json.dumps({"types": {f.name: str(f.type) + ("" if f.nullable else "!") for f in t.schema}, "groups": meta.num_row_groups,
                  "codec": meta.row_group(0).column(0).compression if meta.num_row_groups else "",
                  "rows": meta.num_rows, "pyarrow": pick(t), "duckdb": pick(q), "duckdbRows": q.num_rows,
                  "nulls": [t[c].null_count for c in t.column_names]}))
`

type tableView struct {
	Types           map[string]string
	Groups, Rows    int
	Codec           string
	DuckdbRows      int
	Nulls           []int
	Pyarrow, Duckdb []map[string]*string
}

func viewTable(t *testing.T, s *store.Store, key store.Key) (view tableView) {
	t.Helper()
	python := servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4")
	path, _ := s.LocalPath(key)
	out, err := exec.CommandContext(t.Context(), python, "-c", tableScript, path).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(err))
	}
	if err := json.Unmarshal(out, &view); err != nil {
		t.Fatal(err)
	}
	return view
}

func TestEnginesReadTables(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	writeTable(t, s, "a/rows.parquet", tableRows(0, 100_000), tableRows(100_000, 1), tableRows(100_001, 99_999))
	view := viewTable(t, s, "a/rows.parquet")
	if view.Rows != 200_000 || view.DuckdbRows != 200_000 || view.Groups != 2 || view.Codec != "ZSTD" {
		t.Errorf("%d rows, %d to DuckDB, in %d groups of %s", view.Rows, view.DuckdbRows, view.Groups, view.Codec)
	}
	if got := mustJSON(t, view.Types); got != `{"at":"timestamp[us, tz=UTC]","id":"string!","n":"int64","small":"int32!","x":"double","yes":"bool"}` {
		t.Errorf("types %s", got)
	}
	if want := []int{0, 66667, 66667, 66667, 66667, 0}; !slices.Equal(view.Nulls, want) {
		t.Errorf("nulls %v, want %v", view.Nulls, want)
	}
	want := `[{"at":null,"id":"run-000000","n":null,"small":"0","x":null,"yes":null},` +
		`{"at":"1970-01-01 00:00:01.000001+00:00","id":"run-000001","n":"8589934592","small":"1","x":"0.125","yes":"False"},` +
		`{"at":"1970-01-01 00:00:02.000002+00:00","id":"run-000002","n":"17179869184","small":"2","x":"0.25","yes":"True"},` +
		`{"at":null,"id":"run-000003","n":null,"small":"3","x":null,"yes":null}]`
	for engine, rows := range map[string]any{"pyarrow": view.Pyarrow, "duckdb": view.Duckdb} {
		if got := mustJSON(t, rows); got != want {
			t.Errorf("%s reads %s\nwant %s", engine, got, want)
		}
	}
}

func TestEnginesReadTableWithoutRows(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	file := writeTable(t, s, "rows.parquet")
	if view := viewTable(t, s, "rows.parquet"); view.Rows != 0 || view.DuckdbRows != 0 || len(view.Types) != 6 || file.Rows != 0 {
		t.Errorf("%+v", view)
	}
	r, err := dataset.OpenFile(t.Context(), s, "rows.parquet", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Tables(t.Context(), []string{"id"}) {
		t.Errorf("rows in an empty table, error %v", err)
	}
}

func TestTableIsReadBack(t *testing.T) {
	s := openStore(t, "mem://", nil)
	file := writeTable(t, s, "rows.parquet", tableRows(0, 150_000))
	again := writeTable(t, s, "again.parquet", tableRows(0, 150_000))
	if file.SHA256 != again.SHA256 {
		t.Error("equal rows made different bytes")
	}
	r, err := dataset.OpenFile(t.Context(), s, "rows.parquet", file)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	pieces := 0
	for rows, err := range r.Tables(t.Context(), []string{"id", "small"}) {
		if err != nil {
			t.Fatal(err)
		}
		pieces++
		ids = append(ids, rows.Column("id").Values.([]string)...)
	}
	if want := tableRows(0, 150_000)[0].Values.([]string); !slices.Equal(ids, want) || pieces < 2 {
		t.Errorf("%d ids in %d pieces, want %d", len(ids), pieces, len(want))
	}
	for _, err := range r.Tables(t.Context(), []string{"n"}) {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("nulls: error %v, want ErrUnsupported", err)
		}
	}
}

func TestDamagedTableIsRefused(t *testing.T) {
	s := openStore(t, "mem://", nil)
	file := writeTable(t, s, "rows.parquet", tableRows(0, 50_000))
	body, err := s.Get(t.Context(), "rows.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"a bit": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":   func(b []byte) []byte { return b[:len(b)-100] },
		"other": func([]byte) []byte { return []byte("not Parquet") },
	} {
		if err := s.Put(t.Context(), "rows.parquet", damage(bytes.Clone(body))); err != nil {
			t.Fatal(err)
		}
		r, err := dataset.OpenFile(t.Context(), s, "rows.parquet", file)
		if err == nil {
			_, err = r.ReadTable(t.Context(), []string{"id"})
		}
		if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrCorrupt", name, err)
		}
	}
}

func TestTableRefusesWhatDoesNotFit(t *testing.T) {
	s := openStore(t, "mem://", nil)
	if _, err := dataset.NewTableWriter(s, "x", []dataset.Field{{Name: "l", Type: "list<item: int64>"}}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a list: error %v, want ErrInvalid", err)
	}
	nulls := []bool{false}
	for name, rows := range map[string]dataset.Table{
		"another column": {{Name: "other", Values: []string{"a"}}, {Name: "n", Values: []int64{1}}},
		"another type":   {{Name: "id", Values: []string{"a"}}, {Name: "n", Values: []int32{1}}},
		"too few":        {{Name: "id", Values: []string{"a"}}},
		"lengths":        {{Name: "id", Values: []string{"a"}}, {Name: "n", Values: []int64{1, 2}}},
		"a null":         {{Name: "id", Values: []string{"a"}, Valid: nulls}, {Name: "n", Values: []int64{1}}},
		"nulls of more":  {{Name: "id", Values: []string{"a"}}, {Name: "n", Values: []int64{1}, Valid: []bool{true, true}}},
		"unknown values": {{Name: "id", Values: []string{"a"}}, {Name: "n", Values: []int{1}}},
	} {
		w, err := dataset.NewTableWriter(s, "refused.parquet", schema(t, "id:string!,n:int64"))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), rows); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
		if _, err := w.Close(t.Context()); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: closed with error %v, want ErrInvalid", name, err)
		}
	}
	w, err := dataset.NewTableWriter(s, "aborted.parquet", schema(t, tableColumns))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), tableRows(0, 10)); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	if found := keys(t, s, ""); len(found) > 0 {
		t.Errorf("stored: %v, want nothing", found)
	}
}

func TestNullsInWrittenTables(t *testing.T) {
	s := openStore(t, t.TempDir(), nil)
	rows := dataset.Table{{Name: "id", Values: []int64{1, 2, 3}}, {Name: "note", Values: []string{"a", "", "c"}, Valid: []bool{true, false, true}}}
	d, _, err := dataset.Stage(t.Context(), s, dataset.Spec{Sources: []dataset.Source{{URI: "nulls", Version: "1"}}}, func(ctx context.Context, w *dataset.Writer) error { return w.WriteTable(ctx, dataset.Train, rows) })
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, s, d, dataset.Train)
	if got := m.Files[0].Columns["note"].Nulls; got != 1 || !m.Schema[1].Nullable || m.Schema[0].Nullable {
		t.Errorf("%d nulls, schema %+v", got, m.Schema)
	}
}

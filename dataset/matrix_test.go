package dataset_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// foreignPython has every writer whose files are read.
func foreignPython(t *testing.T) string {
	return servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4")
}

// TestReadsWhatOthersWrite reads files of pyarrow, pandas, Polars and DuckDB and
// compares each value with what pyarrow reads there.
func TestReadsWhatOthersWrite(t *testing.T) {
	python := foreignPython(t)
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/matrix.py", root).CombinedOutput(); err != nil {
		t.Fatalf("write the files: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(root, "*.parquet"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	s := openStore(t, root, nil)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".parquet")
		t.Run(name, func(t *testing.T) {
			compareFile(t, s, store.Key(name+".parquet"), strings.TrimSuffix(file, ".parquet")+".arrow")
		})
	}
}

func compareFile(t *testing.T, s *store.Store, key store.Key, want string) {
	r, err := dataset.Open(t.Context(), s, key)
	if err != nil {
		t.Fatal(err)
	}
	table := readIPC(t, want)
	if got, want := r.Schema(), table.Schema(); !sameTypes(got, want) {
		t.Errorf("columns\n%v\nwant\n%v", got, want)
	}
	if r.Rows() != table.NumRows() {
		t.Errorf("%d rows, want %d", r.Rows(), table.NumRows())
	}
	at := int64(0)
	for batch, err := range r.Batches(t.Context(), &dataset.ReadOptions{BatchRows: 333}) {
		if err != nil {
			t.Fatal(err)
		}
		want := table.NewSlice(at, at+batch.NumRows())
		for i, column := range batch.Columns() {
			got, want := mustJSON(t, column), mustJSON(t, want.Column(i))
			if got != want {
				t.Errorf("column %s from row %d:\n%s\nwant\n%s", batch.ColumnName(i), at, short(got, want), short(want, got))
			}
		}
		at += batch.NumRows()
	}
	if at != table.NumRows() {
		t.Errorf("read %d rows, want %d", at, table.NumRows())
	}
}

// short cuts a text to where it differs from another.
func short(text, other string) string {
	i := 0
	for i < len(text) && i < len(other) && text[i] == other[i] {
		i++
	}
	return text[max(0, i-60):min(len(text), i+200)]
}

// sameTypes compares names and types, but for the names of members of lists and
// maps, which each writer chooses.
func sameTypes(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, field := range a.Fields() {
		if field.Name != b.Field(i).Name || shape(field.Type) != shape(b.Field(i).Type) {
			return false
		}
	}
	return true
}

func shape(kind arrow.DataType) string {
	switch kind := kind.(type) {
	case *arrow.MapType:
		return "map<" + shape(kind.KeyType()) + "," + shape(kind.ItemType()) + ">"
	case *arrow.ListType:
		return "list<" + shape(kind.Elem()) + ">"
	case *arrow.StructType:
		text := "struct<"
		for _, field := range kind.Fields() {
			text += field.Name + ":" + shape(field.Type) + ","
		}
		return text + ">"
	}
	if kind.ID() == arrow.TIMESTAMP && strings.HasPrefix(kind.String(), "timestamp[ns") {
		return "timestamp[ns]" // INT96 has no zone: pyarrow leaves it away, Arrow for Go says UTC
	}
	return kind.String()
}

// readIPC reads a file of Arrow into one record.
func readIPC(t *testing.T, path string) arrow.Record {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var columns []arrow.Array
	if r.NumRecords() == 0 {
		for _, field := range r.Schema().Fields() {
			columns = append(columns, array.MakeArrayOfNull(memory.DefaultAllocator, field.Type, 0))
		}
		return array.NewRecord(r.Schema(), columns, 0)
	}
	record, err := r.RecordAt(0)
	if err != nil || r.NumRecords() != 1 {
		t.Fatalf("%d records: %v", r.NumRecords(), err)
	}
	return record
}

package dataset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// TestCompressedInputs reads the same rows from every wrapping, also in several members.
func TestCompressedInputs(t *testing.T) {
	half := func(text string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return out.Bytes()
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	wrapped := map[string][]byte{
		"a.csv":     []byte("a\n1\n2\n"),
		"a.csv.gz":  append(half("a\n1\n"), half("2\n")...),
		"a.csv.zst": append(encoder.EncodeAll([]byte("a\n1\n"), nil), encoder.EncodeAll([]byte("2\n"), nil)...),
		"a.zip":     half("a\n1\n2\n"), // the name does not matter
	}
	for name, body := range wrapped {
		from := openStore(t, "mem://", nil)
		s, d, err := stageInputs(t, putTexts(t, from, map[string]string{name: string(body)}, name), nil, dataset.Spec{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rowsOf(t, s, d, dataset.Train); got != `{"a":1}`+"\n"+`{"a":2}` {
			t.Errorf("%s: rows %s", name, got)
		}
		if name == "a.csv" {
			continue
		}
		cut := putTexts(t, from, map[string]string{name: string(body[:len(body)-3])}, name)
		if _, _, err := stageInputs(t, cut, nil, dataset.Spec{}); err == nil {
			t.Errorf("%s cut short is read", name)
		}
	}
}

// TestArrowAndParquetInputs goes through all binary formats with nested columns and dictionaries.
func TestArrowAndParquetInputs(t *testing.T) {
	rows, _, err := array.RecordFromJSON(memory.DefaultAllocator, mixedSchema(), strings.NewReader(mixed))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	from := openStore(t, t.TempDir(), nil)
	_, first, err := stageInputsTo(t, from, rows)
	if err != nil {
		t.Fatal(err)
	}
	parquet := first.Commit.Splits[dataset.Train].Dir.Join(manifest(t, from, first, dataset.Train).Files[0].Name)
	want := rowsOf(t, from, first, dataset.Train)
	texts := map[string]string{"a.arrows": arrowStream(t, rows), "a.arrow": arrowFile(t, rows)}
	inputs := append(putTexts(t, from, texts, "a.arrows", "a.arrow"), dataset.Input{Store: from, Key: parquet})
	for _, input := range inputs {
		s, d, err := stageInputs(t, []dataset.Input{input}, nil, dataset.Spec{})
		if err != nil {
			t.Errorf("%s: %v", input.Key, err)
			continue
		}
		if got := rowsOf(t, s, d, dataset.Train); got != want {
			t.Errorf("%s: rows %s\nwant %s", input.Key, got, want)
		}
	}
}

func stageInputsTo(t *testing.T, s *store.Store, rows arrow.Record) (bool, *dataset.Dataset, error) {
	d, hit, err := dataset.Stage(t.Context(), s, dataset.Spec{Sources: []dataset.Source{{URI: "rows", Version: "1"}}},
		func(ctx context.Context, w *dataset.Writer) error { return w.Write(ctx, dataset.Train, rows) })
	return hit, d, err
}

func arrowStream(t *testing.T, rows arrow.Record) string {
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(rows.Schema()), ipc.WithZstd())
	if err := errors.Join(w.Write(rows), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func arrowFile(t *testing.T, rows arrow.Record) string {
	path := filepath.Join(t.TempDir(), "a")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(rows.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rows), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

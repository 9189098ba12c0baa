package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/store"
)

// TestCatalogShowGolden holds what people and programs are shown of a catalog. HEIRLOOM_UPDATE=1 writes it anew.
func TestCatalogShowGolden(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "none")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
	s, err := store.Open(t.Context(), "s3://bucket/team?region=us-east-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := &catalog.Manifest{Version: 1, Number: 12, AsOf: at, Published: at.Add(time.Second), Writer: "heirloom 1.0 on h", AncestryDepth: 7}
	for i, table := range catalog.Tables() {
		file := catalog.TableFile{Table: table.Name, File: dataset.File{Name: "00000000000000000012/" + table.Name + "/" + table.Name + ".parquet", Rows: int64(i), Bytes: 1000 << i}}
		for _, c := range table.Columns {
			file.Columns = append(file.Columns, dataset.Field{Name: c.Name, Type: string(c.Type), Nullable: c.Nullable})
		}
		m.Tables = append(m.Tables, file)
	}
	m.Tables = append(m.Tables, catalog.TableFile{Table: "later", Columns: []dataset.Field{{Name: "new", Type: "string"}}, File: dataset.File{Name: "00000000000000000012/later/later.parquet"}})
	p := place{store: s}
	for name, show := range map[string]func(a *app) error{
		"catalog-show.txt":  func(a *app) error { return a.printCatalog(p, m, p.shownCatalog(m)) },
		"catalog-show.json": func(a *app) error { return render.Document(a.stdout, p.shownCatalog(m), render.JSON) },
	} {
		var out bytes.Buffer
		if err := show(&app{process: process{stdout: &out, stderr: &out}}); err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name
		if os.Getenv("HEIRLOOM_UPDATE") != "" {
			if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v; write it with HEIRLOOM_UPDATE=1", err)
		}
		if out.String() != string(want) {
			t.Errorf("%s is now\n%s\nwant\n%s", file, out.String(), want)
		}
	}
}

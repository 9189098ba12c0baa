package catalog_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/store"
)

// sample is a manifest as this program writes it.
func sample() *catalog.Manifest {
	m := &catalog.Manifest{Version: 1, Number: 12, AsOf: time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC)}
	for _, t := range catalog.Tables() {
		var columns []dataset.Field
		for _, c := range t.Columns {
			columns = append(columns, dataset.Field{Name: c.Name, Type: string(c.Type), Nullable: c.Nullable})
		}
		m.Tables = append(m.Tables, catalog.TableFile{Table: t.Name, Columns: columns, File: dataset.File{Name: "00000000000000000012/" + t.Name + "/" + t.Name + ".parquet"}})
	}
	return m
}

func TestQueries(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "none")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
	s := open(t, "s3://bucket/it's?region=us-east-1", nil)
	for _, engine := range catalog.Engines() {
		text, err := catalog.Query(s, sample(), engine)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "query-"+string(engine)+".txt", text)
	}
	golden(t, "views.sql", catalog.Views(s, sample()))
	if _, err := catalog.Query(s, sample(), "excel"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("excel: error %v, want ErrInvalid", err)
	}
}

// DuckDB does not read HDFS.
func TestViewsOfHDFS(t *testing.T) {
	s, err := store.Open(t.Context(), "hdfs://127.0.0.1:1/p", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := catalog.Query(s, sample(), catalog.DuckDB); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
	views := catalog.Views(s, sample())
	if !strings.HasPrefix(views, "-- heirloom catalog, version 12\n") || strings.Contains(views, "CREATE") {
		t.Errorf("views.sql says %s", views)
	}
	spark, err := catalog.Query(s, sample(), catalog.Spark)
	if err != nil || !strings.Contains(spark, "hdfs://127.0.0.1:1/p/heirloom/catalog/00000000000000000012/runs/runs.parquet") {
		t.Errorf("Spark: %s, error %v", spark, err)
	}
}

// TestPageNamesEveryColumn holds docs/catalog.md against the tables.
func TestPageNamesEveryColumn(t *testing.T) {
	page, err := os.ReadFile("../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range catalog.Tables() {
		_, section, ok := strings.Cut(string(page), "\n### "+table.Name+"\n")
		if !ok {
			t.Errorf("docs/catalog.md has no section %s", table.Name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n#")
		for _, c := range table.Columns {
			if !strings.Contains(section, "| `"+c.Name+"` |") {
				t.Errorf("docs/catalog.md does not name %s.%s", table.Name, c.Name)
			}
		}
	}
}

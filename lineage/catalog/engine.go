package catalog

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// Engine is a program for which Query writes what opens a catalog.
type Engine string

// The engines.
const (
	DuckDB Engine = "duckdb"
	Spark  Engine = "spark"
	Trino  Engine = "trino"
	Pandas Engine = "pandas"
	Polars Engine = "polars"
)

// Engines lists them in the order in which people are shown them.
func Engines() []Engine { return []Engine{DuckDB, Spark, Trino, Pandas, Polars} }

// Query is what to paste into an engine to have the tables of a version by their names, and a first question as a
// comment. The error has kind store.ErrUnsupported where the engine does not read what the store is, and
// store.ErrInvalid for an engine that is none of Engines.
func Query(s *store.Store, m *Manifest, engine Engine) (string, error) {
	dialects := map[Engine]dataset.Engine{DuckDB: dataset.DuckDB, Spark: dataset.Spark, Trino: "", Pandas: dataset.FSSpec, Polars: dataset.FSSpec}
	dialect, ok := dialects[engine]
	if !ok {
		return "", &store.Error{Op: "write query", Key: string(engine), Kind: store.ErrInvalid, Err: fmt.Errorf("there is no such engine, only %v", Engines())}
	}
	at, err := address(s, m, dialect)
	if err != nil {
		return "", err
	}
	switch engine {
	case DuckDB:
		return duckViews(m, at), nil
	case Spark:
		return sparkViews(m, at), nil
	case Trino:
		return trinoTables(m, at), nil
	case Pandas:
		return frames(m, at, "import pandas as pd", "pd.read_parquet", `ancestry[ancestry.descendant_id == "RUN"]`), nil
	default:
		return frames(m, at, "import polars as pl", "pl.scan_parquet", `ancestry.filter(pl.col("descendant_id") == "RUN").collect()`), nil
	}
}

// address is the directory of the version as an engine writes it.
func address(s *store.Store, m *Manifest, engine dataset.Engine) (string, error) {
	return engine.Address(s.KeyURL(Root(s.Layout()).Join(dirName(m.Number))))
}

// viewsHead begins views.sql and tells of which version it is.
const viewsHead = "-- heirloom catalog, version %d"

// Views is the text of views.sql: views over a version for DuckDB. Where DuckDB does not read what the store is, it says
// so in a comment.
func Views(s *store.Store, m *Manifest) string {
	text, err := Query(s, m, DuckDB)
	if err != nil {
		return head(m, "--") + "-- There are no views: DuckDB does not read " + s.Scheme() + ". heirloom catalog show has other engines.\n"
	}
	return text
}

// head says in comments which version follows.
func head(m *Manifest, comment string) string {
	text := fmt.Sprintf(viewsHead, m.Number)[len("-- "):]
	return fmt.Sprintf("%s %s\n%s as of %s\n", comment, text, comment, m.AsOf.UTC().Format("2006-01-02T15:04:05Z"))
}

// inDir is the place of a table's file within the directory of its version.
func inDir(t TableFile) string {
	_, below, _ := strings.Cut(t.File.Name, "/")
	return below
}

func duckViews(m *Manifest, at string) string {
	var b strings.Builder
	b.WriteString(head(m, "--"))
	for _, t := range m.Tables {
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet(%s);\n", t.Table, quoted(at+"/"+inDir(t)))
	}
	b.WriteString(`-- What a run came from, as the table ancestry has it too:
-- WITH RECURSIVE up (id) AS (
--   SELECT source_id FROM edges WHERE target_id = 'RUN'
--   UNION SELECT source_id FROM edges JOIN up ON target_id = id)
-- SELECT id FROM up;
`)
	return b.String()
}

func sparkViews(m *Manifest, at string) string {
	var b strings.Builder
	b.WriteString(head(m, "--"))
	for _, t := range m.Tables {
		fmt.Fprintf(&b, "CREATE OR REPLACE TEMPORARY VIEW %s USING parquet OPTIONS (path %s);\n", t.Table, quoted(at+"/"+inDir(t)))
	}
	return b.String() + ancestorsSQL
}

// trinoTables needs a catalog of Trino's Hive connector, which is given a directory for each table.
func trinoTables(m *Manifest, at string) string {
	if rest, ok := strings.CutPrefix(at, "file://"); ok {
		at = "local://" + rest
	}
	var b strings.Builder
	b.WriteString(head(m, "--"))
	b.WriteString("-- \"hive\" is a catalog of the Hive connector.\nCREATE SCHEMA IF NOT EXISTS hive.heirloom;\nUSE hive.heirloom;\n")
	for _, t := range m.Tables {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, fmt.Sprintf("%q %s", c.Name, trinoType(c.Type)))
		}
		fmt.Fprintf(&b, "DROP TABLE IF EXISTS %s;\nCREATE TABLE %s (%s)\n  WITH (format = 'PARQUET', external_location = %s);\n",
			t.Table, t.Table, strings.Join(columns, ", "), quoted(at+"/"+path.Dir(inDir(t))+"/"))
	}
	return b.String() + ancestorsSQL
}

func trinoType(name string) string {
	switch Type(name) {
	case Int:
		return "bigint"
	case Real:
		return "double"
	case Bool:
		return "boolean"
	case Timestamp:
		return "timestamp(3)"
	}
	return "varchar"
}

// ancestorsSQL is a first question for engines whose recursive queries do not end on a cycle.
const ancestorsSQL = "-- What a run came from:\n-- SELECT ancestor_id, depth FROM ancestry WHERE descendant_id = 'RUN' ORDER BY depth;\n"

// frames is Python that reads each table.
func frames(m *Manifest, at, load, read, question string) string {
	var b strings.Builder
	b.WriteString(head(m, "#"))
	fmt.Fprintf(&b, "%s\nat = %s\n", load, strconv.Quote(at+"/"))
	for _, t := range m.Tables {
		fmt.Fprintf(&b, "%s = %s(at + %s)\n", t.Table, read, strconv.Quote(inDir(t)))
	}
	return b.String() + "# What a run came from:\n# " + question + "\n"
}

// quoted is a text in SQL.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

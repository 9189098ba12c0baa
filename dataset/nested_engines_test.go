package dataset_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/dataset"
)

// nestedScript prints what pyarrow and DuckDB read in a directory by the order of id, with statistics and codecs.
const nestedScript = statsScript + `
rows = lambda t: sorted(t.to_pylist(), key=lambda r: r["id"])
stats, found = statistics(d.files[0])
group = pq.read_metadata(d.files[0]).row_group(0)
print(json.dumps({"pyarrow": rows(d.to_table()), "duckdb": rows(q), "stats": stats, "duckdbStats": found,
                  "codecs": sorted({group.column(i).compression for i in range(group.num_columns)})}))
`

type nestedView struct {
	Pyarrow, DuckDB    []map[string]any
	Stats, DuckDBStats map[string][]any
	Codecs             []string
}

// nestedRows have lists and structs within each other, of which each level may be null or empty, a column that is
// null throughout, and empty texts.
func nestedRows() string {
	deep := []string{"null", "[]", "[null]", "[[]]", "[[null, 1], null, [2]]"}
	points := []string{"null", `{"x": null, "tags": null}`, `{"x": 3, "tags": []}`, `{"x": -4, "tags": ["", null, "ü"]}`}
	lists := []string{"[]", "null", "[null]", `[{"a": 1, "b": null}, null, {"a": null, "b": ""}]`}
	var out strings.Builder
	for i := range 500 {
		fmt.Fprintf(&out, `{"id": %d, "deep": %s, "at": %s, "list": %s, "none": null, "text": %q, "pair": [%d, %d]}`+"\n",
			i, deep[i%5], points[i%4], lists[i/7%4], []string{"", "z"}[i%2], i, -i)
	}
	return out.String()
}

// TestEnginesReadNestedSplits compares each split, with each codec, in pyarrow and DuckDB with the rows that went in.
func TestEnginesReadNestedSplits(t *testing.T) {
	python := foreignPython(t)
	columns := schema(t, "id:int64!,deep:list<list<int32>>,at:struct<x: int64, tags: list<string>>,list:list<struct<a: int16, b: string>>,none:double,text:string!,pair:list<int64>")
	want := rowsById(t, strings.TrimSpace(nestedRows()))
	for compression, codec := range map[string]string{"zstd": "ZSTD", "snappy": "SNAPPY"} {
		from := openStore(t, "mem://", nil)
		in, err := dataset.OpenInputs(t.Context(), putTexts(t, from, map[string]string{"a.jsonl": nestedRows()}, "a.jsonl"), &dataset.InputOptions{Schema: columns})
		if err != nil {
			t.Fatal(err)
		}
		to := openStore(t, t.TempDir(), nil)
		spec := dataset.Spec{Sources: in.Sources(), Split: dataset.Split{Val: 0.3, Test: 0.2}, Seed: 7, Files: dataset.FileOptions{Compression: compression}}
		d, _, err := dataset.Stage(t.Context(), to, spec, in.Produce)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[int]bool)
		for _, split := range spec.Splits() {
			dir, _ := to.LocalPath(d.Commit.Splits[split].Dir)
			view := viewNested(t, python, dir)
			checkNestedRows(t, view, want, seen)
			if int64(len(view.Pyarrow)) != d.Commit.Splits[split].Rows {
				t.Errorf("%s: %d rows are read, %d committed", split, len(view.Pyarrow), d.Commit.Splits[split].Rows)
			}
			if got := mustJSON(t, view.Codecs); got != `["`+codec+`"]` {
				t.Errorf("%s: codecs %s", compression, got)
			}
			checkNestedStats(t, view, manifest(t, to, d, split).Files[0])
		}
		if len(seen) != len(want) {
			t.Errorf("%s: %d rows in all splits, want %d", compression, len(seen), len(want))
		}
	}
}

func viewNested(t *testing.T, python, dir string) (view nestedView) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-c", nestedScript, dir).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(err))
	}
	if err := json.Unmarshal(out, &view); err != nil {
		t.Fatal(err)
	}
	return view
}

// checkNestedRows compares rows with those of their ids, of which none may be in a split before.
func checkNestedRows(t *testing.T, view nestedView, want []map[string]any, seen map[int]bool) {
	t.Helper()
	var expected []map[string]any
	for _, row := range view.Pyarrow {
		id := int(row["id"].(float64))
		if seen[id] {
			t.Errorf("row %d is in two splits", id)
		}
		seen[id] = true
		expected = append(expected, want[id])
	}
	for engine, rows := range map[string][]map[string]any{"pyarrow": view.Pyarrow, "duckdb": view.DuckDB} {
		if got, want := mustJSON(t, rows), mustJSON(t, expected); got != want {
			t.Errorf("%s reads %s\nwant %s", engine, short(got, want), short(want, got))
		}
	}
}

// checkNestedStats holds the statistics that engines find against each other and against the manifest.
func checkNestedStats(t *testing.T, view nestedView, file dataset.File) {
	t.Helper()
	if len(view.Stats) != 9 || file.RowGroups != 1 {
		t.Fatalf("statistics of %d columns, %d row groups", len(view.Stats), file.RowGroups)
	}
	for path, stats := range view.Stats {
		if got, want := mustJSON(t, view.DuckDBStats[path]), mustJSON(t, stats); got != want {
			t.Errorf("%s: DuckDB finds %s, pyarrow %s", path, got, want)
		}
		known, ok := file.Columns[path]
		if !ok || float64(known.Nulls) != stats[0] {
			t.Errorf("%s: the manifest says %+v, the footer %v", path, known, stats)
		}
		if least := strings.Trim(string(known.Min), `"`); stats[1] != nil && least != stats[1] {
			t.Errorf("%s: the least value is %s in the manifest, %v in the footer", path, least, stats[1])
		}
	}
}

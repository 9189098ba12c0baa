package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// recorded is a world after some steps, all of them in the index.
func recorded(t *testing.T, seed uint64, steps int) *world {
	t.Helper()
	w := newWorld(t, seed)
	for range steps {
		w.step()
	}
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// rows answers a statement, a row a line.
func (w *world) rows(statement string) []string {
	w.Helper()
	answer, err := w.index.Select(w.Context(), statement)
	if err != nil {
		w.Fatalf("%s: %v", statement, err)
	}
	lines := []string{}
	for _, row := range answer.Rows {
		line := ""
		for _, cell := range row {
			line += fmt.Sprint(cell) + "|"
		}
		lines = append(lines, line)
	}
	return lines
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (w *world) same(what string, got, want []string) {
	w.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Errorf("%s: the tables say\n%s\nthe records say\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func TestTablesEqualRecords(t *testing.T) {
	w := recorded(t, 21, 300)
	var runs, links, artifacts []string
	for run, err := range w.tracker.Runs(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		code := "<nil>"
		if v, ok := run.Metadata.Get(tracker.KeyExitCode); ok {
			code = fmt.Sprint(v)
		}
		runs = append(runs, fmt.Sprintf("%s|%s|%d|%s|%d|", run.ID, run.State, len(run.Attempts), code, len(run.Sources)))
		for _, s := range run.Sources {
			links = append(links, fmt.Sprintf("%s|%s|%s|%s|%s|", run.ID, s.ID, or(s.Artifact, "<nil>"), s.Time.Format("2006-01-02T15:04:05.000000000Z"), or(s.Version, "<nil>")))
		}
		for _, a := range run.Artifacts {
			size, _ := a.SizeBytes()
			artifacts = append(artifacts, fmt.Sprintf("%s|%s|%d|", run.ID, a.Name, size))
		}
	}
	w.same("runs", w.rows("SELECT run_id, state, attempts, exit_code, inputs FROM runs"), runs)
	w.same("links", w.rows("SELECT run_id, source_id, artifact, time, version FROM links"), links)
	w.same("artifacts", w.rows("SELECT run_id, name, size_bytes FROM artifacts"), artifacts)
}

func TestAncestryEqualsLineage(t *testing.T) {
	w := recorded(t, 22, 400)
	graph, err := lineage.Load(t.Context(), w.tracker)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range w.runs[:20] {
		for _, way := range []struct {
			query             lineage.Query
			found, of, bounds string
		}{
			{lineage.Query{Up: true}, "ancestor_id", "descendant_id", ""},
			{lineage.Query{Down: true}, "descendant_id", "ancestor_id", ""},
			{lineage.Query{Up: true, Depth: 2}, "ancestor_id", "descendant_id", " AND depth <= 2"},
			{lineage.Query{Down: true, Depth: 1}, "descendant_id", "ancestor_id", " AND depth < 2"},
		} {
			sub, err := graph.Closure(string(id), way.query)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, n := range sub.Nodes {
				if n.ID != string(id) {
					want = append(want, n.ID+"|")
				}
			}
			w.same(fmt.Sprintf("%s %+v", id, way.query), w.rows(fmt.Sprintf("SELECT %s FROM ancestry WHERE %s = %s%s AND %[1]s <> %[3]s", way.found, way.of, quote(string(id)), way.bounds)), want)
		}
	}
	all := w.rows("SELECT * FROM ancestry")
	one := w.rows("SELECT ancestry.* FROM runs JOIN ancestry ON ancestry.descendant_id = runs.run_id")
	w.same("by run and at once", one, all)
}

func TestCycleIsItsOwnAncestor(t *testing.T) {
	w := newWorld(t, 23)
	const size = 1000
	for i := range size {
		s := tracker.Source{ID: tracker.RunID(fmt.Sprintf("r%04d", (i+1)%size))}
		if err := w.tracker.AddSource(t.Context(), tracker.RunID(fmt.Sprintf("r%04d", i)), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.index.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.same("the cycle", w.rows("SELECT count(*), max(depth), max(CASE ancestor_id WHEN 'r0007' THEN depth END) FROM ancestry WHERE descendant_id = 'r0007'"), []string{"1000|1000|1000|"})
}

func TestSelectOnlyReads(t *testing.T) {
	w := recorded(t, 24, 50)
	before, err := os.ReadDir(filepath.Dir(w.index.File()))
	if err != nil {
		t.Fatal(err)
	}
	count := w.rows("SELECT count(*) FROM runs")
	stolen := filepath.Join(t.TempDir(), "stolen")
	for _, statement := range []string{
		"DELETE FROM run", "delete from runs", "INSERT INTO node (id) VALUES ('x')", "WITH a AS (SELECT 1) DELETE FROM run", "REPLACE INTO setting VALUES ('a', 1)",
		"UPDATE run SET state = 'x'", "DROP TABLE run", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "ATTACH " + quote(stolen) + " AS x",
		"VACUUM INTO " + quote(stolen), "VACUUM", "PRAGMA query_only = OFF", "PRAGMA writable_schema = ON", "SELECT 1; DROP TABLE run", "SELECT 1) SELECT 1; --",
		"REINDEX", "BEGIN", "SELECT load_extension('x')", "EXPLAIN DELETE FROM run; DELETE FROM run", "", " ; ", "-- nothing", "SELECT writefile('x', 'y')",
		"WITH a AS (INSERT INTO node (id) VALUES ('x') RETURNING id) SELECT * FROM a", "EXPLAIN",
	} {
		_, err := w.index.Select(t.Context(), statement)
		var wrong *index.StatementError
		if !errors.As(err, &wrong) && !strings.Contains(fmt.Sprint(err), "not authorized") {
			t.Errorf("%q: error %v, want a refusal", statement, err)
		}
	}
	if _, err := os.Stat(stolen); err == nil {
		t.Error("a file was written")
	}
	if after, err := os.ReadDir(filepath.Dir(w.index.File())); err != nil || len(after) != len(before) {
		t.Errorf("files %v, error %v, before %v", after, err, before)
	}
	if got := w.rows("SELECT count(*) FROM runs"); !slices.Equal(got, count) {
		t.Errorf("%v runs, before %v", got, count)
	}
}

func TestSelectSaysWhere(t *testing.T) {
	w := recorded(t, 25, 20)
	for _, c := range []struct{ statement, want string }{
		{"SELECT * FORM runs", "sql: near \"FORM\": syntax error\n  SELECT * FORM runs\n           ^"},
		{"SELECT run_id, FROM\n  runs, FROM x", "sql: near \"FROM\": syntax error\n  SELECT run_id, FROM\n                 ^"},
		{"SELECT idd FROM runs", "no such column: idd; heirloom sql --schema lists them all (a text stands in single quotes)\n  SELECT idd FROM runs\n         ^"},
		{"SELECT number FROM runs", "no such column: number; the table metadata has it"},
		{"SELECT params.lr FROM runs", "it is a key of the table metadata: … WHERE key = 'params.lr'"},
		{"SELECT *\nFROM run_s", "no such table: run_s; there are runs, metadata, artifacts, links, edges, ancestry, datasets, aliases\n  FROM run_s\n       ^"},
		{"SELECT (1", "the statement is not complete"},
		{"SELECT * FROM runs WHERE", "the statement is not complete"},
		{"DELETE FROM runs", "DELETE is refused: sql only reads"},
		{"WITH x AS (SELECT 1) DELETE FROM runs", "DELETE is refused: sql only reads"},
		{"SELECT 1; SELECT 2", "one statement at a time\n  SELECT 1; SELECT 2\n            ^"},
		{"SHOW TABLES", "a statement begins with SELECT, WITH or VALUES"},
		{"SELECT \"FAILED\" FROM runs", "no such column"},
		{"SELECT nosuch(1)", "no such function: nosuch\n  SELECT nosuch(1)\n         ^"},
	} {
		_, err := w.index.Select(t.Context(), c.statement)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: error\n%v\nwant\n%s", c.statement, err, c.want)
		}
	}
	w.same("the rest", w.rows("/* a */ SELECT 1, ';', '--' -- b\n ; "), []string{"1|;|--|"})
	w.same("names", w.rows("VALUES (1, 2), (3, 4) ;"), []string{"1|2|", "3|4|"})
	if plan := w.rows("EXPLAIN QUERY PLAN SELECT * FROM metadata WHERE key = 'params.p1' AND number > 3"); !strings.Contains(strings.Join(plan, "\n"), "meta_number") {
		t.Errorf("a comparison with a number goes by\n%s", strings.Join(plan, "\n"))
	}
	answer, err := w.index.Select(t.Context(), "SELECT a.run_id, b.run_id FROM runs a JOIN runs b USING (run_id)")
	if err != nil || answer.Columns[0] == answer.Columns[1] {
		t.Errorf("columns %v, error %v", answer, err)
	}
}

func TestSelectEndsWithItsContext(t *testing.T) {
	w := recorded(t, 26, 5)
	for _, statement := range []string{
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 2", // the second row never comes
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := w.index.Select(ctx, statement)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestSelectFromMemory(t *testing.T) {
	w := recorded(t, 27, 50)
	x, err := index.Memory(t.Context(), w.tracker, index.Options{Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for range 2 {
		if _, err := x.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		answer, err := x.Select(t.Context(), "SELECT count(*) FROM runs")
		if want := int64(len(w.rows("SELECT run_id FROM runs"))); err != nil || answer.Rows[0][0] != want {
			t.Errorf("%v, error %v, want %d", answer, err, want)
		}
		w.clock = w.clock.Add(time.Hour)
		w.step()
		if _, err := w.index.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAliasesOfRunsAndArtifacts(t *testing.T) {
	w := recorded(t, 28, 50)
	run := w.runs[0]
	set := alias.NewSet(w.tracker.Store(), w.now)
	for name, c := range map[string]alias.Change{"a": {Run: run}, "b": {Run: run, Artifact: "mod#el"}} {
		if _, err := set.Set(t.Context(), name, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.index.CatchUpAliases(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	id := string(run)
	w.same("aliases", w.rows("SELECT alias, node_id, run_id, artifact, number FROM aliases"), []string{
		"a|" + id + "|" + id + "|<nil>|1|", "b|" + id + "#mod#el|" + id + "|mod#el|1|"})
}

// TestSQLPage holds docs/sql.md to the tables, and runs what it shows.
func TestSQLPage(t *testing.T) {
	const path = "../../docs/sql.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var tables strings.Builder
	for _, v := range index.Views(time.Now()) {
		fmt.Fprintf(&tables, "### %s\n\n%s.\n\n| column | type | meaning |\n|---|---|---|\n", v.Name, strings.ToUpper(v.Meaning[:1])+v.Meaning[1:])
		for _, c := range v.Columns {
			fmt.Fprintf(&tables, "| `%s` | %s | %s |\n", c.Name, c.Type, c.Meaning)
		}
		tables.WriteString("\n")
	}
	if os.Getenv("UPDATE") != "" {
		begin, end := strings.Index(string(page), "### "), strings.Index(string(page), "## Questions")
		page = []byte(string(page[:begin]) + tables.String() + string(page[end:]))
		if err := os.WriteFile(path, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(page), tables.String()) {
		t.Error("the tables of docs/sql.md are not those of Views; UPDATE=1 writes them")
	}
	w := recorded(t, 29, 100)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 4 {
		t.Fatalf("%d questions", len(blocks))
	}
	for _, block := range blocks {
		w.rows(block[1])
	}
}

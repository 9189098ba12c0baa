package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/tracker"
)

// engineScript opens views.sql in DuckDB, and what Query writes for pandas and Polars; it prints how many rows each of
// them and pyarrow read in each table, the ancestors of every node by a recursive query and by the table of ancestry,
// and some rows.
const engineScript = `
import json, os, sys
import duckdb, pyarrow.parquet as pq
root, texts = sys.argv[1], json.loads(sys.argv[2])
latest = json.load(open(root + "/latest.json"))
db = duckdb.connect()
db.execute("SET timezone='UTC'; SET enable_progress_bar=false") # a bar of what takes long would be in our output
db.execute(open(root + "/views.sql").read())
names = [t["table"] for t in latest["tables"]]
pandas, polars = {}, {}
exec(texts["pandas"], pandas)
exec(texts["polars"], polars)
counts = {t["table"]: [t["file"]["rows"], db.execute("select count(*) from " + t["table"]).fetchone()[0],
                       pq.read_table(root + "/" + t["file"]["name"]).num_rows, len(pandas[t["table"]]), polars[t["table"]].collect().height]
          for t in latest["tables"]}
walk = """WITH RECURSIVE up (id, depth) AS (
  SELECT source_id, 1 FROM edges WHERE target_id = ?
  UNION SELECT source_id, depth + 1 FROM edges JOIN up ON target_id = id WHERE depth < 40)
SELECT id, min(depth) FROM up GROUP BY id ORDER BY 1"""
nodes = [r[0] for r in db.execute("select source_id from edges union select target_id from edges order by 1").fetchall()]
walked = {n: db.execute(walk, [n]).fetchall() for n in nodes}
listed = {n: db.execute("select ancestor_id, depth from ancestry where descendant_id = ? order by 1", [n]).fetchall() for n in nodes}
example = {}
if nodes:
    text = "\n".join(l[3:] for l in open(root + "/views.sql").read().split("\n") if l.startswith("-- ") and not "heirloom" in l and not l.startswith(("-- as of", "-- What")))
    example = {n: sorted(r[0] for r in db.execute(text.replace("'RUN'", "'" + n + "'")).fetchall()) for n in nodes}
frame = pandas["ancestry"]
pick = lambda q: [[None if v is None else str(v) for v in r] for r in db.execute(q).fetchall()]
print(json.dumps({"counts": counts, "walked": walked, "listed": listed, "example": example,
  "pandas": {n: sorted(frame[frame.descendant_id == n].ancestor_id) for n in nodes},
  "polars": {n: sorted(polars["ancestry"].filter(polars["pl"].col("descendant_id") == n).collect()["ancestor_id"]) for n in nodes},
  "run": pick("select * exclude (started, ended, duration_seconds) from runs where run_id = 'local://torchx/run-001'"),
  "metadata": pick("select key, type, text, number, integer, boolean from metadata where run_id = 'local://torchx/run-001' and key like 'params.%' order by key"),
  "artifact": pick("select * from artifacts where run_id = 'local://torchx/run-001'"),
  "datasets": pick("select source_id, kind, name, version, digest, uri, used_by, made_by from datasets order by source_id, digest"),
  "aliases": pick("select alias, node_id, run_id, artifact, number, reason from aliases"),
  "times": pick("select count(*) from runs where started is null or ended < started"),
}))
`

type hop struct {
	ID    string
	Depth int
}

func (h *hop) UnmarshalJSON(body []byte) error { return json.Unmarshal(body, &[]any{&h.ID, &h.Depth}) }

type engineView struct {
	Counts                                            map[string][]int
	Walked, Listed                                    map[string][]hop
	Example, Pandas, Polars                           map[string][]string
	Run, Metadata, Artifact, Datasets, Aliases, Times [][]*string
}

// view asks the engines about the newest version.
func (w *world) view() (view engineView) {
	w.Helper()
	m := w.check()
	texts := map[catalog.Engine]string{}
	for _, engine := range catalog.Engines() {
		text, err := catalog.Query(w.store, m, engine)
		w.must(err)
		texts[engine] = text
	}
	body, err := json.Marshal(texts)
	w.must(err)
	root, _ := w.store.LocalPath(catalog.Root(w.store.Layout()))
	out := python(w, engineScript, root, string(body))
	w.must(json.Unmarshal(out, &view))
	return view
}

// graph is the lineage of the root as the library tells it, with what runs made.
func (w *world) graph() *lineage.Graph {
	w.Helper()
	g, err := lineage.Load(w.Context(), w.tracker)
	w.must(err)
	s, err := w.index.Snapshot(w.Context())
	w.must(err)
	defer s.Close()
	var made []lineage.Made
	for e, err := range s.Made(w.Context()) {
		w.must(err)
		m := lineage.Made{Run: e.From, Artifact: e.Source.Artifact, Input: e.Source}
		m.Input.ID = e.To
		made = append(made, m)
	}
	if len(made) == 0 {
		w.Error("no run made an input: the graph lacks what it should show")
	}
	return g.WithMade(made)
}

func TestEnginesAgreeWithLineage(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("HEIRLOOM_STRESS") != "" {
		seeds = 30
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, open(t, t.TempDir(), nil))
			w.random(seed, 24)
			w.publish(nil)
			view := w.view()
			for name, counts := range view.Counts {
				if slices.Min(counts) != slices.Max(counts) {
					t.Errorf("table %s has %v rows by manifest, DuckDB, pyarrow, pandas and Polars", name, counts)
				}
			}
			w.checkAncestry(view)
		})
	}
}

// checkAncestry holds the recursive query and the table of ancestry against each other and against lineage.
func (w *world) checkAncestry(view engineView) {
	w.Helper()
	g := w.graph()
	if len(view.Walked) < 20 {
		w.Fatalf("%d nodes", len(view.Walked))
	}
	cycles := 0
	for node, walked := range view.Walked {
		if !slices.Equal(walked, view.Listed[node]) {
			w.Errorf("%s: recursive query %v, ancestry %v", node, walked, view.Listed[node])
		}
		var ids, others []string
		for _, h := range walked {
			ids = append(ids, h.ID)
			if h.ID != node {
				others = append(others, h.ID)
			} else {
				cycles++
			}
		}
		for name, answer := range map[string][]string{"the example of views.sql": view.Example[node], "pandas": view.Pandas[node], "Polars": view.Polars[node]} {
			if !slices.Equal(answer, ids) {
				w.Errorf("%s: %s says %v, want %v", node, name, answer, ids)
			}
		}
		sub, err := g.Closure(node, lineage.Query{Up: true})
		w.must(err)
		var want []string
		for _, n := range sub.Nodes {
			if n.ID != node {
				want = append(want, n.ID)
			}
		}
		if !slices.Equal(others, want) {
			w.Errorf("%s: the catalog knows the ancestors %v, lineage %v", node, others, want)
		}
	}
	if cycles == 0 {
		w.Error("the graph has no cycle")
	}
}

func TestRowsOfTables(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	w.describe(1)
	w.describe(2)
	w.link(1, 2)
	w.link(1, 9)
	w.stage(runID(2), "clicks@1")
	input, err := tracker.NewInput(tracker.Source{Name: "clicks", Version: "1"}, "")
	w.must(err)
	w.must(w.tracker.AddSource(t.Context(), runID(1), input))
	aliases := alias.NewSet(w.store, later)
	for name, change := range map[string]alias.Change{"best": {Run: runID(1), Artifact: "model", Reason: "why not"}, "prod": {Run: runID(2), Reason: "why not"}} {
		_, err := aliases.Set(t.Context(), name, change)
		w.must(err)
	}
	w.publish(nil)
	view := w.view()
	for name, want := range map[string]string{
		"run":      `[["local://torchx/run-001","run-001","SUCCEEDED",null,"1","0",null,"ann",null,null,null,null,null,null,null,"3","0"]]`,
		"artifact": `[["local://torchx/run-001","model","s3://b/model-1",null,"model",null,"1"]]`,
		"metadata": `[["params.like","string","1e3","1000.0",null,null],["params.list","list","[1,\"a\"]",null,null,null],["params.lr","float","0.5","0.5",null,null],` +
			`["params.n","int","1","1.0","1",null],["params.object","object","{\"a\":1.5}",null,null,null],["params.on","bool","true",null,null,"True"],` +
			`["params.text","string","ü \u001b[31m'\"",null,null,null]]`,
		"datasets": `[["clicks@1","dataset","clicks","1",null,null,"1","local://torchx/run-002"]]`,
		"aliases": `[["best","local://torchx/run-001#model","local://torchx/run-001","model","1","why not"],` +
			`["prod","local://torchx/run-002","local://torchx/run-002",null,"1","why not"]]`,
		"times": `[["0"]]`,
	} {
		rows := map[string][][]*string{"run": view.Run, "artifact": view.Artifact, "metadata": view.Metadata, "datasets": view.Datasets, "aliases": view.Aliases, "times": view.Times}[name]
		if got := inWords(t, rows); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	if got := view.Listed[string(runID(1))]; !slices.Equal(got, []hop{{"clicks@1", 1}, {string(runID(2)), 1}, {string(runID(9)), 1}}) {
		t.Errorf("ancestors %v", got)
	}
	if got := view.Listed["clicks@1"]; !slices.Equal(got, []hop{{string(runID(2)), 1}}) {
		t.Errorf("ancestors of the dataset %v", got)
	}
}

func inWords(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAncestryIsBounded(t *testing.T) {
	w := newWorld(t, open(t, t.TempDir(), nil))
	for i := range 30 {
		w.link(i+1, i)
	}
	done := w.publish(&catalog.Options{AncestryRows: 100})
	m := done.Manifest
	if m.AncestryDepth != 3 || m.Table("ancestry").File.Rows != 30+29+28 {
		t.Errorf("depth %d, %d rows, want 3 and 87", m.AncestryDepth, m.Table("ancestry").File.Rows)
	}
	if again := w.publish(&catalog.Options{AncestryRows: 100}); !again.Unchanged {
		t.Error("published again though nothing changed")
	}
	if whole := w.publish(nil).Manifest; whole.AncestryDepth != 0 || whole.Table("ancestry").File.Rows != 30*31/2 {
		t.Errorf("depth %d, %d rows, want all", whole.AncestryDepth, whole.Table("ancestry").File.Rows)
	}
}

// update rewrites the golden files: HEIRLOOM_UPDATE=1 go test ./lineage/catalog
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("HEIRLOOM_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with HEIRLOOM_UPDATE=1", err)
	}
	if got != string(want) {
		t.Errorf("%s is now\n%s\nwant\n%s", path, got, want)
	}
}

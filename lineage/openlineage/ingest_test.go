package openlineage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/openlineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// root is an empty tracker in memory.
func root(t testing.TB) *tracker.FileTracker {
	t.Helper()
	s, err := store.Open(t.Context(), "mem://", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return tracker.NewFileTracker(s, nil)
}

// ingest records events, each a line, and refuses none.
func ingest(t testing.TB, to *tracker.FileTracker, lines ...string) openlineage.Report {
	t.Helper()
	g := openlineage.NewIngest(to)
	for _, line := range lines {
		if err := g.Add(t.Context(), []byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g.Report()
}

// recorded is all of a root that matters, in a form that can be compared.
func recorded(t testing.TB, of *tracker.FileTracker) string {
	t.Helper()
	var b strings.Builder
	for run, err := range of.Runs(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %v %v\n", run.ID, run.State, run.Started, run.Ended)
		for _, key := range slices.Sorted(maps.Keys(keys(run.Metadata))) {
			v, _ := run.Metadata.Get(key)
			fmt.Fprintf(&b, "  %s = %s\n", key, sorted(v))
		}
		for _, a := range run.Artifacts {
			fmt.Fprintf(&b, "  made %s %s %s\n", a.Name, a.Path, sorted(a.Metadata))
		}
		for _, s := range run.Sources {
			fmt.Fprintf(&b, "  used %s %q %s %s %s %s %s\n", s.ID, s.Artifact, s.Role, s.URI, s.Name, s.Version, s.Digest)
		}
	}
	return b.String()
}

func keys(m *tracker.Metadata) map[string]bool {
	set := map[string]bool{}
	for key := range m.All() {
		set[key] = true
	}
	return set
}

// sorted is a value as JSON with sorted keys.
func sorted(v any) string {
	var plain any
	if err := json.Unmarshal(pyjson.Valid(v), &plain); err != nil {
		return err.Error()
	}
	body, err := json.Marshal(plain)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// spark, dbt and a task of Airflow, as they write their events.
const (
	sparkStart = `{"eventType":"START","eventTime":"2026-11-20T10:00:00.000Z","run":{"runId":"11111111-1111-4111-8111-111111111111","facets":{"spark_properties":{"_producer":"https://x","_schemaURL":"https://y","properties":{"spark.master":"yarn","spark.password":"hunter2secret"}},"processing_engine":{"_producer":"https://x","_schemaURL":"https://y","version":"3.5.1","name":"spark"}}},"job":{"namespace":"prod","name":"etl.clean","facets":{}},"inputs":[{"namespace":"s3://raw","name":"clicks/2026-11-20","facets":{"schema":{"_producer":"https://x","_schemaURL":"https://y","fields":[{"name":"a","type":"int"}]}}}],"outputs":[],"producer":"https://github.com/OpenLineage/OpenLineage/tree/1.20.0/integration/spark","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}`
	sparkEnd   = `{"eventType":"COMPLETE","eventTime":"2026-11-20T10:05:00.000Z","run":{"runId":"11111111-1111-4111-8111-111111111111","facets":{"parent":{"_producer":"https://x","_schemaURL":"https://y","run":{"runId":"22222222-2222-4222-8222-222222222222"},"job":{"namespace":"airflow","name":"daily.clean"}}}},"job":{"namespace":"prod","name":"etl.clean","facets":{}},"inputs":[{"namespace":"s3://raw","name":"clicks/2026-11-20"}],"outputs":[{"namespace":"s3://warehouse","name":"clean/clicks","facets":{"version":{"_producer":"https://x","_schemaURL":"https://y","datasetVersion":"7"}},"outputFacets":{"outputStatistics":{"_producer":"https://x","_schemaURL":"https://y","rowCount":10,"size":2048}}}],"producer":"https://github.com/OpenLineage/OpenLineage/tree/1.20.0/integration/spark","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}`
	dbtFail    = `{"eventType":"FAIL","eventTime":"2026-11-20T11:00:00Z","run":{"runId":"33333333-3333-4333-8333-333333333333","facets":{"errorMessage":{"_producer":"https://x","_schemaURL":"https://y","message":"no such column","programmingLanguage":"SQL"}}},"job":{"namespace":"dbt","name":"orders"},"inputs":[{"namespace":"s3a://warehouse","name":"clean/clicks/"},{"namespace":"postgres://db:5432","name":"shop.public.orders"}],"outputs":[{"namespace":"postgres://db:5432","name":"shop.public.report"}],"producer":"https://dbt","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}`
	airflow    = `{"eventType":"ABORT","eventTime":"2026-11-20T11:30:00+01:00","run":{"runId":"22222222-2222-4222-8222-222222222222"},"job":{"namespace":"airflow","name":"daily.clean"},"producer":"https://airflow","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}`

	spark = "openlineage://prod/11111111-1111-4111-8111-111111111111"
	dbt   = "openlineage://dbt/33333333-3333-4333-8333-333333333333"
)

func TestIngest(t *testing.T) {
	to := root(t)
	if got, want := ingest(t, to, sparkStart, sparkEnd, dbtFail, airflow), (openlineage.Report{Events: 4, Runs: 3}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
	run, err := to.Run(t.Context(), spark)
	if err != nil {
		t.Fatal(err)
	}
	if run.State != tracker.Succeeded || run.Started.Hour() != 10 || run.Ended.Minute() != 5 || run.Metadata.Text(tracker.KeyName) != "etl.clean" {
		t.Errorf("the run is %s from %v to %v: %s", run.State, run.Started, run.Ended, sorted(run.Metadata))
	}
	if len(run.Sources) != 2 || run.Sources[1].ID != "s3://raw/clicks/2026-11-20" || run.Sources[0].Role != tracker.RoleParent {
		t.Errorf("it used %+v", run.Sources)
	}
	if len(run.Artifacts) != 1 || run.Artifacts[0].Path != "s3://warehouse/clean/clicks" {
		t.Errorf("it made %+v", run.Artifacts)
	}
	if bytes, ok := run.Artifacts[0].SizeBytes(); !ok || bytes != 2048 {
		t.Errorf("of a size of %d, %v", bytes, ok)
	}
	all := recorded(t, to)
	for _, kept := range []string{`"message":"no such column"`, `"fields":[{"name":"a","type":"int"}]`, `"spark.master":"yarn"`, `"datasetVersion":"7"`} {
		if !strings.Contains(all, kept) {
			t.Errorf("the facet %s is not kept:\n%s", kept, all)
		}
	}
	if failed, err := to.Run(t.Context(), dbt); err != nil || failed.State != tracker.Failed || len(failed.Sources) != 2 {
		t.Errorf("%+v, %v", failed, err)
	}
}

func TestNoSecretIsKept(t *testing.T) {
	to := root(t)
	ingest(t, to, sparkStart)
	for o, err := range to.Store().List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		body, err := to.Store().Get(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(body, []byte("hunter2secret")) {
			t.Errorf("%s holds a secret: %s", o.Key, body)
		}
	}
}

// Events may come in any order, in any portions, twice, and by several at once: the root is the same in the end.
func TestOrderDoesNotMatter(t *testing.T) {
	events := []string{sparkStart, sparkEnd, dbtFail, airflow}
	for i := range 8 {
		events = append(events, strings.ReplaceAll(strings.Replace(sparkStart, "10:00:00", fmt.Sprintf("09:%02d:00", i), 1), `"START"`, `"RUNNING"`))
		events = append(events, strings.Replace(strings.Replace(sparkEnd, "10:05", fmt.Sprintf("10:%02d", 2*i), 1), "clean/clicks", fmt.Sprintf("clean/part-%d", i), 1))
	}
	reference := root(t)
	ingest(t, reference, events...)
	want := recorded(t, reference)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		mixed := append(slices.Clone(events), events[r.IntN(len(events))], events[r.IntN(len(events))])
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		to := root(t)
		var group sync.WaitGroup
		for portion := range slices.Chunk(mixed, 1+r.IntN(6)) {
			if seed%2 == 0 {
				ingest(t, to, portion...)
				continue
			}
			group.Go(func() {
				g := openlineage.NewIngest(to)
				for _, line := range portion {
					if err := g.Add(t.Context(), []byte(line)); err != nil {
						t.Error(err)
					}
				}
				if err := g.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := recorded(t, to); got != want {
			t.Fatalf("seed %d: recorded is\n%s\nwant\n%s", seed, got, want)
		}
	}
	if again := ingest(t, reference, events...); again.Known != len(events) || recorded(t, reference) != want {
		t.Errorf("a second time: %+v", again)
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for _, bad := range []string{
		"", "x", "[]", `"x"`, "{}", `{"eventType":"START"} {}`, strings.Replace(sparkStart, "11111111-1111-4111-8111-111111111111", "7", 1),
		strings.Replace(sparkStart, "2026-11-20T10:00:00.000Z", "yesterday", 1), strings.Replace(sparkStart, `"START"`, `"BEGIN"`, 1),
		strings.Replace(sparkStart, `"name":"etl.clean"`, `"name":""`, 1), strings.Replace(sparkStart, `"name":"clicks/2026-11-20"`, `"name":"a\u0000"`, 1),
		strings.Replace(sparkStart, `"inputs":[`, `"inputs":["x",`, 1),
	} {
		if err := openlineage.NewIngest(root(t)).Add(t.Context(), []byte(bad)); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%.60q: %v, want kind ErrInvalid", bad, err)
		}
	}
	to := root(t)
	if got := ingest(t, to, `{"eventTime":"2026-11-20T10:00:00Z","job":{"namespace":"a","name":"b"},"producer":"https://x","schemaURL":"https://y"}`); got.WithoutRun != 1 || got.Events != 0 {
		t.Errorf("an event of a job: %+v", got)
	}
}

// A run that this root's own launcher recorded stays as it is.
func TestOwnRunsAreLeftAlone(t *testing.T) {
	to := root(t)
	if _, err := to.StartAttempt(t.Context(), spark, tracker.AttemptStart{}); err != nil {
		t.Fatal(err)
	}
	want := recorded(t, to)
	if got := ingest(t, to, sparkEnd); got.Recorded != 1 || recorded(t, to) != want {
		t.Errorf("%+v; recorded is\n%s", got, recorded(t, to))
	}
}

// randomRoot is a root of runs with links, artifacts and metadata of all sorts.
func randomRoot(t *testing.T, seed uint64) *tracker.FileTracker {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	to := root(t)
	var ids []tracker.RunID
	for i := range 3 + r.IntN(12) {
		id := tracker.RunID(fmt.Sprintf("local://torchx/run-%d-%x", i, r.Uint32()))
		ids = append(ids, id)
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		started := time.Date(2026, 11, 20, 1, i, 0, r.IntN(1e9), time.UTC)
		m := pyjson.NewObject(pyjson.Member{Key: "params.lr", Value: r.Float64()}, pyjson.Member{Key: "tags.odd", Value: "ü\n\"<x>"})
		if state := []tracker.State{"", tracker.Succeeded, tracker.Failed, tracker.Cancelled}[r.IntN(4)]; state != "" {
			m.Set(tracker.KeyState, string(state))
			m.Set(tracker.KeyStarted, started.Format(time.RFC3339Nano))
			m.Set(tracker.KeyEnded, started.Add(time.Minute).Format(time.RFC3339Nano))
			m.Set(tracker.KeyExitCode, int64(r.IntN(3)))
		}
		check(to.AddMetadata(t.Context(), id, m))
		for n := range r.IntN(4) {
			path := []string{"s3://b/x/", "/data/", "dbfs:/x/", "relative/", "hdfs://nn/x/"}[r.IntN(5)]
			var meta *tracker.Metadata
			if r.IntN(2) == 0 {
				meta = pyjson.NewObject(pyjson.Member{Key: tracker.KeyKind, Value: "model"}, pyjson.Member{Key: tracker.KeySizeBytes, Value: int64(r.IntN(1e6))})
			}
			check(to.AddArtifact(t.Context(), id, tracker.Artifact{Name: fmt.Sprintf("a%d", n), Path: fmt.Sprintf("%s%d-%d", path, i, n), Metadata: meta}))
		}
		for range r.IntN(5) {
			other := ids[r.IntN(len(ids))]
			s := tracker.Source{ID: other, Artifact: []string{"", "a0", "a1"}[r.IntN(3)], Role: []tracker.Role{"", "", tracker.RoleParent, tracker.RoleRerun}[r.IntN(4)]}
			if r.IntN(3) == 0 {
				var err error
				s, err = tracker.NewInput([]tracker.Source{{URI: "s3://b/raw"}, {Name: "clicks", Version: "3", Digest: "ab"}, {Name: "odd name"}, {URI: "/data/x"}}[r.IntN(4)], "/")
				check(err)
			}
			check(to.AddSource(t.Context(), id, s))
		}
	}
	return to
}

// told is what emit writes of all runs of a root, one event a line.
func told(t *testing.T, of *tracker.FileTracker) []string {
	t.Helper()
	var lines []string
	options := openlineage.Options{Lookup: func(id tracker.RunID) *tracker.Run {
		run, err := of.Run(t.Context(), id)
		if err != nil {
			return nil
		}
		return run
	}}
	for run, err := range of.Runs(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range openlineage.Events(run, options) {
			body, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(body))
		}
	}
	return lines
}

// What is told of a root and ingested into an empty one is the same root: runs, states, metadata, artifacts, links.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		from, to := randomRoot(t, seed), root(t)
		lines := told(t, from)
		rand.New(rand.NewPCG(seed, 4)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		ingest(t, to, lines...)
		if got, want := recorded(t, to), recorded(t, from); got != want {
			t.Fatalf("seed %d: recorded is\n%s\nwant\n%s", seed, got, want)
		}
		if got, want := edges(t, to), edges(t, from); got != want {
			t.Fatalf("seed %d: the graph is\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// Ingested runs of other tools, told again, are the same runs.
func TestRoundTripOfForeignRuns(t *testing.T) {
	from, to := root(t), root(t)
	ingest(t, from, sparkStart, sparkEnd, dbtFail, airflow)
	ingest(t, to, told(t, from)...)
	if got, want := edges(t, to), edges(t, from); got != want {
		t.Errorf("the graph is\n%s\nwant\n%s", got, want)
	}
	if got, want := recorded(t, to), recorded(t, from); got != want {
		t.Errorf("recorded is\n%s\nwant\n%s", got, want)
	}
}

// edges is the graph of a root.
func edges(t *testing.T, of *tracker.FileTracker) string {
	t.Helper()
	g, err := lineage.Load(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	set, err := of.Edges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, g.Len(), "nodes")
	for _, e := range set.Edges {
		fmt.Fprintln(&b, e.From, "→", e.To, e.Source.Artifact, e.Source.Role)
	}
	return b.String()
}

// at is a minute of the day of the tests.
func at(minute int) time.Time { return time.Date(2026, 11, 20, 10, minute, 0, 0, time.UTC) }

package render_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// update rewrites the golden files: go test ./cmd/internal/render -update
var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what was printed with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; printed is\n%s\nwant\n%s", path, got, want)
	}
}

// nasty is a name that tries to do things to a terminal and to every language of pictures.
const nasty = "x\x1b[31m\n\u202e\"]);-->%%{init}%%<b>&amp;\\N`${}#35;"

// at is a time of the day on which the samples ran.
func at(minute, second int) time.Time {
	return time.Date(2026, 11, 20, 10, minute, second, 340e6, time.UTC)
}

// meta builds metadata from keys and values in turn.
func meta(pairs ...any) *pyjson.Object {
	o := &pyjson.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func run(id, state string, minute int, m *pyjson.Object) *tracker.Run {
	r := &tracker.Run{ID: tracker.RunID(id), State: tracker.State(state), Metadata: m}
	if minute > 0 {
		r.Started = at(minute, 0)
	}
	if r.State.Terminal() {
		r.Ended = at(minute, 12)
	}
	return r
}

const (
	prepare = "local://torchx/prepare-b1c2d3"
	train1  = "local://torchx/train-c4d5f6"
	train2  = "local://torchx/train-d7f9g0"
	tune    = "local://torchx/finetune-f3g4h5"
	eval    = "local://torchx/evaluate-g6h7j8"
	sweep   = "slurm://torchx/sweep-h1"
)

// samples are the runs of a pipeline by id, one with every field filled.
func samples() map[string]*tracker.Run {
	code := 0
	full := run(eval, "SUCCEEDED", 5, meta("heirloom.name", "evaluate", "heirloom.user", "ann", "heirloom.project", "digits",
		"heirloom.experiment", "first", "heirloom.host", "gpu-1", "heirloom.exit_code", int64(0),
		"params.split", "test", "metrics.test_accuracy", 0.97222222, "metrics.test_loss", math.Inf(1),
		"metrics.images", int64(360), "tags.stage", "candidate", "note", "naïve 数字",
		"heirloom.output_dir", "file:///data/runs/e"))
	full.Artifacts = []tracker.Artifact{
		{Name: "confusion.csv", Path: "file:///data/runs/e/confusion.csv", Metadata: meta("heirloom.size_bytes", int64(1536), "heirloom.kind", "other")},
		{Name: "report", Path: "s3://b/report.html"},
	}
	full.Sources = []tracker.Source{
		{ID: prepare, Artifact: "test.parquet", Time: at(5, 0)},
		{ID: tune, Artifact: "model.gob"},
		{ID: "digits@1", Role: tracker.RoleInput, URI: "s3://b/digits", Name: "digits", Version: "1", Digest: "sha256:00ff", Time: at(5, 1)},
	}
	full.Children = []tracker.RunID{"local://torchx/publish-j1"}
	full.Attempts = []tracker.Attempt{
		{Number: 1, Start: tracker.AttemptStart{Time: at(4, 0), Command: []string{"eval", "--split", "test"}, Host: "gpu-1"},
			End: &tracker.AttemptEnd{Time: at(4, 30), State: "FAILED", Signal: "SIGKILL"}},
		{Number: 2, Beat: at(5, 6), Start: tracker.AttemptStart{Time: at(5, 0), Command: []string{"eval", "--split", "test"}, Dir: "/work", Host: "gpu-1",
			User: "ann", PID: 4711, BootID: "b", Environ: []string{"CUDA_VISIBLE_DEVICES=0,1"}, Scheduler: meta("job_id", "77")},
			End: &tracker.AttemptEnd{Time: at(5, 12), State: "SUCCEEDED", ExitCode: &code}},
	}
	full.Warnings = []tracker.Warning{{Key: "NRXWG===/metadata/17", Reason: "not JSON: unexpected end"}}

	made := run(tune, "SUCCEEDED", 4, meta("heirloom.name", "finetune", "heirloom.user", "ann", "metrics.loss", 0.01, "metrics.val_accuracy", 0.981))
	made.Artifacts = []tracker.Artifact{{Name: "model.gob", Path: "s3://b/model.gob", Metadata: meta("heirloom.size_bytes", int64(20480), "heirloom.sha256", strings.Repeat("ab", 32), "heirloom.kind", "model")}}
	return map[string]*tracker.Run{
		prepare: run(prepare, "SUCCEEDED", 1, meta("heirloom.name", "prepare", "metrics.rows", int64(1797))),
		train1:  run(train1, "SUCCEEDED", 2, meta("heirloom.user", "ann", "params.lr", 0.1, "metrics.val_accuracy", 0.95)),
		train2:  run(train2, "FAILED", 3, meta("params.lr", 0.5, "params.note", nasty, "metrics.loss", math.NaN())),
		tune:    made,
		eval:    full,
		sweep:   run(sweep, "RUNNING", 1, &pyjson.Object{}),
	}
}

func link(from, to, artifact string, role tracker.Role) tracker.Edge {
	return tracker.Edge{From: tracker.RunID(from), To: tracker.RunID(to), Source: tracker.Source{ID: tracker.RunID(from), Artifact: artifact, Role: role}}
}

// pipeline is the lineage of the samples.
func pipeline() *lineage.Graph {
	digits := link("digits@1", prepare, "", tracker.RoleInput)
	digits.Source.Name, digits.Source.Version, digits.Source.Digest = "digits", "1", "sha256:00ff"
	raw := link("s3://bucket/raw", prepare, "", tracker.RoleInput)
	raw.Source.URI, raw.Source.Time = "s3://bucket/raw", at(1, 0)
	return lineage.New([]tracker.RunID{prepare, train1, train2, tune, eval, sweep}, []tracker.Edge{
		digits, raw,
		link(prepare, train1, "train.parquet", ""), link(prepare, train1, "val.parquet", ""),
		link(prepare, train2, "train.parquet", ""), link(prepare, train2, "val.parquet", ""),
		link(sweep, train1, "", tracker.RoleParent), link(sweep, train2, "", tracker.RoleParent),
		link(train1, tune, "epoch-1", ""), link(train1, tune, "epoch-2", ""), link(train1, tune, "epoch-3", ""),
		link(train1, tune, "epoch-4", ""), link(train1, tune, "epoch-5", ""), link(prepare, tune, "train.parquet", ""),
		link(tune, eval, "model.gob", ""), link(prepare, eval, "test.parquet", ""),
		link("slurm://torchx/gone-k2", tune, "vocabulary", ""),
	})
}

// closure asks g and attaches the samples, without a root to read from.
func closure(t testing.TB, g *lineage.Graph, root string, q lineage.Query) *lineage.Subgraph {
	t.Helper()
	sub, err := g.Closure(root, q)
	if err != nil {
		t.Fatal(err)
	}
	runs := samples()
	for i := range sub.Nodes {
		n := &sub.Nodes[i]
		n.Run = runs[n.ID]
		if n.Kind == lineage.KindArtifact {
			n.Run = runs[n.Owner]
		}
	}
	return sub
}

// runList is the samples in a fixed order.
func runList() []*tracker.Run {
	runs := samples()
	return []*tracker.Run{runs[eval], runs[train2], runs[sweep], run("other://x/sweep-h1", "UNKNOWN", 0, &pyjson.Object{})}
}

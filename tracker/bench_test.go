package tracker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The benchmarks write into TMPDIR: set it to a directory on the disk in
// question, since flushing costs nothing in memory. Each spreads its records
// over runs as testdata/bench_torchx.py does, so that the rates compare.

const benchCount = 1000 // records of each kind, over 100 runs

func benchRun(i int) tracker.RunID {
	return tracker.RunID(fmt.Sprintf("local://torchx/bench-%04d", i%(benchCount/10)))
}

func benchTracker(b *testing.B) *tracker.FileTracker {
	tr := tracker.NewFileTracker(openStore(b, b.TempDir(), nil), nil)
	check(b, tr.Init(b.Context(), tracker.InitOptions{}))
	return tr
}

// perSecond reports the rate beside the time of one operation.
func perSecond(b *testing.B, n int, what string) {
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), what+"/s")
}

// benchWrites makes benchCount writes to a fresh root each time.
func benchWrites(b *testing.B, what string, write func(tr *tracker.FileTracker, i int) error) {
	n := 0
	for b.Loop() {
		tr := benchTracker(b)
		for i := range benchCount {
			check(b, write(tr, i))
			n++
		}
	}
	perSecond(b, n, what)
}

func addMetadata(b *testing.B) func(*tracker.FileTracker, int) error {
	return func(tr *tracker.FileTracker, i int) error {
		return tr.AddMetadata(b.Context(), benchRun(i), object("k"+strconv.Itoa(i), i))
	}
}

func addArtifact(b *testing.B) func(*tracker.FileTracker, int) error {
	return func(tr *tracker.FileTracker, i int) error {
		return tr.AddArtifact(b.Context(), benchRun(i), tracker.Artifact{Name: "a" + strconv.Itoa(i), Path: "/a"})
	}
}

func addSource(b *testing.B) func(*tracker.FileTracker, int) error {
	return func(tr *tracker.FileTracker, i int) error {
		return tr.AddSource(b.Context(), benchRun(i), tracker.Source{ID: tracker.RunID("source-" + strconv.Itoa(i)), Artifact: "m"})
	}
}

func BenchmarkAddMetadata(b *testing.B) { benchWrites(b, "add-metadata", addMetadata(b)) }
func BenchmarkAddArtifact(b *testing.B) { benchWrites(b, "add-artifact", addArtifact(b)) }
func BenchmarkAddSource(b *testing.B)   { benchWrites(b, "add-source", addSource(b)) }

// filled is a root like that of bench_torchx.py: 10 metadata, 10 artifacts and
// 10 sources in each of 100 runs.
func filled(b *testing.B) *tracker.FileTracker {
	tr := benchTracker(b)
	for i := range benchCount {
		for _, write := range []func(*tracker.FileTracker, int) error{addMetadata(b), addArtifact(b), addSource(b)} {
			check(b, write(tr, i))
		}
	}
	return tr
}

func BenchmarkRun(b *testing.B) {
	tr, i := filled(b), 0
	for b.Loop() {
		_, err := tr.Run(b.Context(), benchRun(i))
		check(b, err)
		i++
	}
	perSecond(b, i, "read-run")
}

func BenchmarkRuns(b *testing.B) {
	tr, n := filled(b), 0
	for b.Loop() {
		for _, err := range tr.Runs(b.Context(), nil) {
			check(b, err)
			n++
		}
	}
	perSecond(b, n, "read-run")
}

func BenchmarkRunIDs(b *testing.B) {
	tr, n := filled(b), 0
	for b.Loop() {
		for _, err := range tr.RunIDs(b.Context(), "") {
			check(b, err)
		}
		n++
	}
	perSecond(b, n, "run-ids")
}

// BenchmarkWriteWithoutSync writes the files of BenchmarkAddMetadata through a
// temporary name, but never flushes them: the difference is what it costs that
// a record survives a loss of power.
func BenchmarkWriteWithoutSync(b *testing.B) {
	dir, i := b.TempDir(), 0
	for b.Loop() {
		body, err := pyjson.Marshal(object("metadata", object("k"+strconv.Itoa(i), i)))
		check(b, err)
		folder := filepath.Join(dir, benchRun(i).Encode(), "metadata")
		check(b, os.MkdirAll(folder, 0o750))
		temp := filepath.Join(dir, "temp")
		check(b, os.WriteFile(temp, body, 0o640))
		check(b, os.Rename(temp, filepath.Join(folder, fmt.Sprintf("%019d", i))))
		i++
	}
	perSecond(b, i, "add-metadata")
}

package benchlineage

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// What the bench is told, see "make bench-lineage".
const (
	onlyVariable  = "HEIRLOOM_BENCH_LINEAGE" // a regular expression on rows, as "runs|svg" or "by heirloom"; unset: nothing runs
	timesVariable = "HEIRLOOM_BENCH_N"       // tries of each question, of which the best counts
	sizesVariable = "HEIRLOOM_BENCH_SIZES"   // numbers of runs, with commas
	keepVariable  = "HEIRLOOM_BENCH_DIR"     // where roots, and indexes of those that are no files, stay for the next time; unset: they go
	diskVariable  = "HEIRLOOM_BENCH_DISK"    // up to how many runs a root is written as files
)

// onDisk is up to how many runs a root is written as files where nothing else is said. A larger one exists as a rule, and
// no other tool is asked.
const onDisk = 200_000

// TestTable asks each question at each size and prints what it took.
func TestTable(t *testing.T) {
	only := os.Getenv(onlyVariable)
	if only == "" {
		t.Skipf("measures for minutes; set %s=. or call make bench-lineage", onlyVariable)
	}
	b := &bench{only: regexp.MustCompile(only), times: usage.Number(t, timesVariable, 3), onDisk: usage.Number(t, diskVariable, onDisk),
		keep: os.Getenv(keepVariable), heirloom: usage.Build(t), results: &results{}}
	if b.wantsOf(torchxRows, "torchx") {
		b.torchx, _ = python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	}
	if b.wantsOf(mlflowRows, "mlflow") {
		b.mlflow, _ = python(t, "mlflow-skinny==3.17.2", "sqlalchemy==2.1.9", "alembic==1.20.1")
	}
	for _, text := range strings.Split(sizes(), ",") {
		runs, err := strconv.Atoi(text)
		if err != nil || runs < 100 {
			t.Fatalf("%s: %q is no number of runs", sizesVariable, text)
		}
		b.results.sizes = append(b.results.sizes, runs)
		t.Run(text, func(t *testing.T) { b.size(t, runs) })
	}
	t.Logf("data in %s; best of %d; milliseconds of whole processes, and (in parentheses) of the question alone\n%s", os.TempDir(), b.times, b.results)
}

func sizes() string {
	if text := os.Getenv(sizesVariable); text != "" {
		return text
	}
	return "1000,10000,100000"
}

// bench is one run of the table.
type bench struct {
	only           *regexp.Regexp
	times          int
	onDisk         int
	keep           string // "" = nothing stays
	heirloom       string // the binary
	torchx, mlflow string // interpreters; "" = cannot be had
	results        *results
}

// size asks all questions of a root of so many runs.
func (b *bench) size(t *testing.T, runs int) {
	s := newSite(t, b, runs)
	s.fill(t)
	s.ask(t)
	s.young(t)
	s.gateway(t)
	s.others(t)
}

// wants tells whether a row of a tool was asked for.
func (b *bench) wants(row, tool string) bool { return b.only.MatchString(row + " by " + tool) }

// wantsOf tells whether any of several rows was.
func (b *bench) wantsOf(rows [][2]string, tool string) bool {
	return slices.ContainsFunc(rows, func(row [2]string) bool { return b.wants(row[0], tool) })
}

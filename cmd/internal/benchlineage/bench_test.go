package benchlineage

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
)

// What the bench is told, see "make bench-lineage".
const (
	onlyVariable  = "HEIRLOOM_BENCH_LINEAGE" // a regular expression on the names of rows, as "runs|svg"; unset: nothing runs
	timesVariable = "HEIRLOOM_BENCH_N"       // tries of each question, of which the best counts
	sizesVariable = "HEIRLOOM_BENCH_SIZES"   // numbers of runs, with commas
)

// onDisk is up to how many runs a root is written as files. A larger one exists as a rule, and no other tool is asked.
const onDisk = 200_000

// TestTable asks each question at each size and prints what it took.
func TestTable(t *testing.T) {
	only := os.Getenv(onlyVariable)
	if only == "" {
		t.Skipf("measures for minutes; set %s=. or call make bench-lineage", onlyVariable)
	}
	b := &bench{only: regexp.MustCompile(only), times: usage.Number(t, timesVariable, 3), heirloom: usage.Build(t), results: &results{}}
	b.torchx, _ = python(t, "torchx==0.7.0", "fsspec==2026.9.0")
	b.mlflow, _ = python(t, "mlflow-skinny==3.17.2", "sqlalchemy==2.1.9", "alembic==1.20.1")
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

// wants tells whether a row was asked for.
func (b *bench) wants(row string) bool { return b.only.MatchString(row) }

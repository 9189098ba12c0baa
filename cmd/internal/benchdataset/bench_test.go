package benchdataset

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/heirloom-ml/heirloom/cmd/internal/usage"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// What the bench is told, see "make bench-dataset".
const (
	onlyVariable  = "HEIRLOOM_BENCH_DATASET" // a regular expression on the names of cells, as "csv"; unset: nothing runs
	timesVariable = "HEIRLOOM_BENCH_N"       // tries of each, of which the best counts
	rowsVariable  = "HEIRLOOM_BENCH_ROWS"    // of the tables
	stepVariable  = "HEIRLOOM_BENCH_STEP"    // set by this bench: what the process is to do
)

// cell is one job, for each tool. What runs may name {in} and {out}, and prints the number of its rows.
type cell struct {
	name   string
	in     string // a file of the bench
	step   string // of heirloom
	python map[string]string
}

// TestTable runs the cells, one tool after the other, compares the rows they count, and prints the table.
func TestTable(t *testing.T) {
	only := os.Getenv(onlyVariable)
	if only == "" {
		t.Skipf("measures for minutes; set %s=. or call make bench-dataset", onlyVariable)
	}
	wanted := regexp.MustCompile(only)
	python := servers.Python(t, "pyarrow==21.0.0", "pandas==2.3.3", "polars==1.35.1", "duckdb==1.4.1", "numpy==2.3.4")
	dir := t.TempDir()
	rows := usage.Number(t, rowsVariable, 10_000_000)
	generate(t, python, dir, rows)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\ttool\tseconds\tCPU seconds\tM rows/s\tpeak MiB\trows")
	for _, c := range cells() {
		if !wanted.MatchString(c.name) {
			continue
		}
		for _, tool := range []string{"heirloom", "pyarrow", "duckdb"} {
			best := c.best(t, tool, python, dir, usage.Number(t, timesVariable, 1))
			line := fmt.Sprintf("%s\t%s\t%.2f\t%.2f\t%.2f\t%d\t%s", c.name, tool, best.Wall.Seconds(), best.CPU.Seconds(),
				float64(rows)/1e6/best.Wall.Seconds(), best.Peak>>20, best.Said)
			t.Log(strings.ReplaceAll(line, "\t", " "))
			fmt.Fprintln(w, line)
		}
	}
	if wanted.MatchString("hit") {
		fmt.Fprintln(w, hit(t))
	}
	_ = w.Flush()
	t.Logf("%d rows, data in %s\n%s", rows, os.TempDir(), table.String())
}

// best lets one tool do the job some times. Each has a directory of its own to write to.
func (c cell) best(t *testing.T, tool, python, dir string, times int) usage.Usage {
	var best usage.Usage
	for range times {
		out := filepath.Join(t.TempDir(), "out")
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		args, environ := []string{os.Args[0], filepath.Join(dir, c.in), out}, []string{stepVariable + "=" + c.step}
		if tool != "heirloom" {
			args, environ = []string{python, "-c", c.python[tool], filepath.Join(dir, c.in), out}, nil
		}
		if err := exec.CommandContext(t.Context(), "sync").Run(); err != nil { // what others left to write is not this tool's
			t.Log(err)
		}
		u, err := usage.Measure(t.Context(), args, append(os.Environ(), environ...))
		if err != nil {
			t.Errorf("%s: %s: %v", c.name, tool, err)
			return usage.Usage{Wall: time.Nanosecond, Said: "failed"}
		}
		if best.Wall == 0 || u.Wall < best.Wall {
			best = u
		}
		if err := os.RemoveAll(out); err != nil {
			t.Error(err)
		}
	}
	return best
}

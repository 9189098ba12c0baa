package runner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// readMetrics sets metrics.X to the last value of each X in the job's metrics,
// and in the tables that Lightning's logger leaves.
func (r *run) readMetrics(m *pyjson.Object) {
	for _, pattern := range []string{"metrics.csv", "*/metrics.csv", "*/*/metrics.csv"} {
		tables, _ := fs.Glob(os.DirFS(r.place.dir), pattern) // the patterns are well formed
		for _, rel := range tables {
			r.readMetricsFile(m, rel, tracker.ReadMetricsCSV)
		}
	}
	r.readMetricsFile(m, metricsFile, tracker.ReadMetrics)
}

func (r *run) readMetricsFile(m *pyjson.Object, rel string, read func(io.Reader, func(string, tracker.Point)) (int, error)) {
	path := filepath.Join(r.place.dir, filepath.FromSlash(rel))
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || !info.Mode().IsRegular() {
		r.warnf("%s is not a regular file: no metrics were read", rel)
		return
	}
	f, err := os.Open(path)
	if err != nil {
		r.warnf("read metrics: %v", err)
		return
	}
	defer func() { _ = f.Close() }()
	last, bad, err := lastMetrics(f, read)
	if err != nil {
		r.warnf("read metrics: %v", err)
	}
	if bad > 0 {
		r.warnf("lines of %s that are no metrics: %d", rel, bad)
	}
	for name, value := range last.All() {
		m.Set(tracker.PrefixMetrics+name, value)
	}
}

// lastMetrics gives the last number of each metric, in the order of their first
// appearance.
func lastMetrics(r io.Reader, read func(io.Reader, func(string, tracker.Point)) (int, error)) (last *pyjson.Object, bad int, err error) {
	last = &pyjson.Object{}
	bad, err = read(r, func(name string, p tracker.Point) { last.Set(name, p.Value) })
	return last, bad, err
}

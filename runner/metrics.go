package runner

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const maxMetricsLine = 1 << 20 // bytes; a longer line is a bad one

// readMetrics sets metrics.X to the last value of each X in the job's metrics.
func (r *run) readMetrics(m *pyjson.Object) {
	path := filepath.Join(r.place.dir, metricsFile)
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || !info.Mode().IsRegular() {
		r.warnf("%s is not a regular file: no metrics were read", metricsFile)
		return
	}
	f, err := os.Open(path)
	if err != nil {
		r.warnf("read metrics: %v", err)
		return
	}
	defer func() { _ = f.Close() }()
	last, bad, err := lastMetrics(f)
	if err != nil {
		r.warnf("read metrics: %v", err)
	}
	if bad > 0 {
		r.warnf("lines of %s that are not JSON objects of metrics: %d", metricsFile, bad)
	}
	for name, value := range last.All() {
		m.Set(tracker.PrefixMetrics+name, value)
	}
}

// lastMetrics reads lines such as {"step": 1, "loss": 0.3} and gives the last
// number of each name but step and time; nested names are joined by dots. Bad
// lines are counted, but not a last one that is cut off: its writer was killed.
func lastMetrics(r io.Reader) (last *pyjson.Object, bad int, err error) {
	last = &pyjson.Object{}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, whole, err := nextLine(in)
		if text := bytes.TrimSpace(line); len(text) > 0 {
			o, fail := pyjson.UnmarshalObject(text)
			switch {
			case fail == nil && len(line) <= maxMetricsLine:
				addNumbers(last, o)
			case whole:
				bad++
			}
		}
		if errors.Is(err, io.EOF) {
			return last, bad, nil
		}
		if err != nil {
			return last, bad, err
		}
	}
}

// nextLine reads a line without holding more of it than tells that it is too
// long; whole says that it had an end.
func nextLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxMetricsLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err == nil, err
		}
	}
}

func addNumbers(last, o *pyjson.Object) {
	flat := &pyjson.Object{}
	addFlat(flat, "", o)
	for name, value := range flat.All() {
		if name == "step" || name == "time" || clean(name) == "" {
			continue
		}
		switch value.(type) {
		case int64, float64, *big.Int:
			last.Set(name, value)
		}
	}
}

package tracker

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	maxMetricsLine = 1 << 20 // bytes; a longer line is a bad one
	maxMetricBytes = 200     // of a name
)

// Point is one value of a metric.
type Point struct {
	Step  int64     // as the job counts
	Time  time.Time // zero if unknown
	Value any       // int64, float64 or *big.Int
}

// Series holds metrics by name.
type Series map[string][]Point

// Add appends a point.
func (s Series) Add(name string, p Point) { s[name] = append(s[name], p) }

// Sort puts each metric in the order of its steps. Of several values for one
// step the last to be added stays: a job that went on from a checkpoint repeats
// steps.
func (s Series) Sort() {
	for name, points := range s {
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Step, b.Step) })
		kept := points[:0]
		for _, p := range points {
			if len(kept) > 0 && kept[len(kept)-1].Step == p.Step {
				kept = kept[:len(kept)-1]
			}
			kept = append(kept, p)
		}
		s[name] = kept
	}
}

// ReadMetrics reads lines such as {"step": 1, "loss": 0.3} and gives each number
// but step and time to point, in order; nested names are joined by dots. A line
// without a step is counted as one, from 0; time is RFC 3339 or seconds since the
// Unix epoch. Bad lines are counted, but not a last one that is cut off: its
// writer was killed. The error is that of r.
func ReadMetrics(r io.Reader, point func(name string, p Point)) (bad int, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for n := int64(0); ; {
		line, whole, err := nextLine(in)
		if text := bytes.TrimSpace(line); len(text) > 0 {
			o, fail := pyjson.UnmarshalObject(text)
			switch {
			case fail == nil && len(line) <= maxMetricsLine:
				givePoints(o, n, point)
				n++
			case whole:
				bad++
			}
		}
		if errors.Is(err, io.EOF) {
			return bad, nil
		}
		if err != nil {
			return bad, err
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

func givePoints(o *pyjson.Object, n int64, point func(string, Point)) {
	at := Point{Step: n}
	if v, ok := o.Get("step"); ok {
		if step, ok := wholeNumber(v); ok {
			at.Step = step
		}
	}
	if v, ok := o.Get("time"); ok {
		at.Time = readTime(v)
	}
	giveNumbers("", o, func(name string, v any) {
		if name != "step" && name != "time" && metricName(name) {
			at.Value = v
			point(name, at)
		}
	})
}

func giveNumbers(prefix string, o *pyjson.Object, give func(string, any)) {
	for key, value := range o.All() {
		switch v := value.(type) {
		case *pyjson.Object:
			giveNumbers(prefix+key+".", v, give)
		case int64, float64, *big.Int:
			give(prefix+key, v)
		}
	}
}

func metricName(name string) bool {
	return name != "" && len(name) <= maxMetricBytes && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return 0, false
}

func readTime(v any) time.Time {
	switch v := v.(type) {
	case string:
		return parseTime(v)
	case int64:
		if v > 0 && v < 1<<33 {
			return time.Unix(v, 0).UTC()
		}
	case float64:
		if v > 0 && v < 1<<33 {
			return time.Unix(0, int64(v*1e9)).UTC()
		}
	}
	return time.Time{}
}

// ReadMetricsCSV does the same for a table with a header, such as Lightning's
// metrics.csv, in which a cell may be empty. The columns step and epoch are no
// metrics.
func ReadMetricsCSV(r io.Reader, point func(name string, p Point)) (bad int, err error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.ReuseRecord = -1, true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	names := slices.Clone(header)
	for n := int64(0); ; n++ {
		row, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return bad, nil
		case errors.As(err, &wrong), err == nil && len(row) != len(names):
			bad++
		case err != nil:
			return bad, err
		default:
			giveRow(names, row, n, point)
		}
	}
}

func giveRow(names, row []string, n int64, point func(string, Point)) {
	at := Point{Step: n}
	if i := slices.Index(names, "step"); i >= 0 {
		if step, err := strconv.ParseInt(row[i], 10, 64); err == nil {
			at.Step = step
		}
	}
	for i, name := range names {
		v, err := strconv.ParseFloat(row[i], 64)
		if err == nil && name != "step" && name != "epoch" && metricName(name) {
			at.Value = v
			point(name, at)
		}
	}
}

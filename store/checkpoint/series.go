package checkpoint

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const maxLine = 1 << 20 // bytes of a line of metrics

// Point is a value of a metric at a step.
type Point struct {
	Step  int64
	Value float64
}

// ReadSeries reads from JSON lines such as {"step": 1, "val": {"loss": 0.3}} the points of one metric, here val.loss,
// in their order. Lines that are no such objects, or that tell no step, are passed over.
func ReadSeries(r io.Reader, metric string) ([]Point, error) {
	var points []Point
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := nextLine(in)
		if p, ok := pointIn(line, metric); ok {
			points = append(points, p)
		}
		if errors.Is(err, io.EOF) {
			return points, nil
		}
		if err != nil {
			return points, err
		}
	}
}

// nextLine gives no more of a line than maxLine and a buffer.
func nextLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func pointIn(line []byte, metric string) (Point, bool) {
	var o map[string]json.RawMessage
	if len(line) > maxLine || json.Unmarshal(quoteNumbers(line), &o) != nil {
		return Point{}, false
	}
	var step, value number
	found, ok := member(o, metric)
	if !ok || json.Unmarshal(found, &value) != nil || json.Unmarshal(o["step"], &step) != nil {
		return Point{}, false
	}
	if s := float64(step); s != math.Trunc(s) || s < 0 || s > 1<<53 {
		return Point{}, false
	}
	return Point{Step: int64(step), Value: float64(value)}, true
}

// member finds a name in an object, or by its parts between dots in those within.
func member(o map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if v, ok := o[name]; ok {
		return v, true
	}
	for i := range name {
		if name[i] != '.' {
			continue
		}
		var inner map[string]json.RawMessage
		if v, ok := o[name[:i]]; ok && json.Unmarshal(v, &inner) == nil {
			if v, ok := member(inner, name[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// ValueAt is the last value at a step up to upto and behind after: what was known of a checkpoint when it was saved.
// NaN if there is none.
func ValueAt(points []Point, after, upto int64) float64 {
	value, at := math.NaN(), int64(NoStep)
	for _, p := range points {
		if p.Step > after && p.Step <= upto && p.Step >= at {
			value, at = p.Value, p.Step
		}
	}
	return value
}

var nameMetric = regexp.MustCompile(`([A-Za-z][A-Za-z_/]*)=(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)`)

// metricsIn reads metrics from a name such as epoch=1-step=9-val_loss=0.25.ckpt.
func metricsIn(name string) map[string]float64 {
	var found map[string]float64
	for _, m := range nameMetric.FindAllStringSubmatch(name, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if key := strings.TrimLeft(m[1], "_"); err == nil && key != "epoch" && key != "step" {
			if found == nil {
				found = map[string]float64{}
			}
			found[key] = v
		}
	}
	return found
}

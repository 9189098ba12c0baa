package render

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// sparkWidth is the number of characters in which a series is drawn.
const sparkWidth = 40

// Metrics prints the series of a run by name: in a table each is drawn, JSON holds their points, and CSV and JSONL a
// point a line.
func Metrics(w io.Writer, series tracker.Series, f Format, s Style) error {
	names := slices.Sorted(maps.Keys(series))
	switch f {
	case Table:
		return drawn(names, series).Write(w, f, s)
	case JSON:
		return Document(w, pyjson.NewObject(pyjson.Member{Key: "metrics", Value: pointsOf(names, series)}), f)
	}
	l := List{Columns: []Column{{Name: "name"}, {Name: "step"}, {Name: "time"}, {Name: "value"}}}
	for _, name := range names {
		for _, p := range series[name] {
			l.Rows = append(l.Rows, []any{name, p.Step, p.Time, machineNumber(p.Value)})
		}
	}
	return l.Write(w, f, s)
}

func pointsOf(names []string, series tracker.Series) []any {
	list := make([]any, len(names))
	for i, name := range names {
		points := make([]any, len(series[name]))
		for j, p := range series[name] {
			points[j] = pyjson.NewObject(
				pyjson.Member{Key: "step", Value: p.Step},
				pyjson.Member{Key: "time", Value: plain(p.Time)},
				pyjson.Member{Key: "value", Value: plain(machineNumber(p.Value))})
		}
		list[i] = pyjson.NewObject(pyjson.Member{Key: "name", Value: name}, pyjson.Member{Key: "points", Value: points})
	}
	return list
}

// machineNumber is a value as cells know it.
func machineNumber(v any) any {
	if n, ok := v.(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	return v
}

func drawn(names []string, series tracker.Series) List {
	l := List{Columns: []Column{
		{Name: "metric"}, {Name: "course"}, {Name: "steps"}, {Name: "first", Right: true}, {Name: "last", Right: true},
		{Name: "least", Right: true}, {Name: "most", Right: true},
	}}
	for _, name := range names {
		points := series[name]
		values := make([]float64, len(points))
		for i, p := range points {
			values[i] = float(p.Value)
		}
		least, most := bounds(values)
		steps := fmt.Sprintf("%d–%d", points[0].Step, points[len(points)-1].Step)
		l.Rows = append(l.Rows, []any{name, spark(values), steps, short(values[0]), short(values[len(values)-1]), short(least), short(most)})
	}
	return l
}

func float(v any) float64 {
	switch v := machineNumber(v).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// bounds are of the finite values.
func bounds(values []float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			least, most = min(least, v), max(most, v)
		}
	}
	if least > most {
		return math.NaN(), math.NaN()
	}
	return least, most
}

// spark draws values as bars of eight heights, each the mean of as many values as share it; "·" is one that is not
// finite.
func spark(values []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	least, most := bounds(values)
	width := min(len(values), sparkWidth)
	var line strings.Builder
	for i := range width {
		sum, n := 0.0, 0
		for _, v := range values[i*len(values)/width : (i+1)*len(values)/width] {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum, n = sum+v, n+1
			}
		}
		switch {
		case n == 0:
			line.WriteRune('·')
		case most == least:
			line.WriteRune(bars[3])
		default:
			height := (sum/float64(n) - least) / (most - least) * float64(len(bars))
			line.WriteRune(bars[min(int(height), len(bars)-1)])
		}
	}
	return line.String()
}

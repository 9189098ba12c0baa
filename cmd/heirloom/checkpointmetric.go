package main

import (
	"context"
	"errors"
	"math"
	"math/big"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/tracker"
)

// metricsName is the file in a run's output directory that HEIRLOOM_METRICS names.
const metricsName = "metrics.jsonl"

// values gives the value of a metric for each checkpoint, NaN where it is not known: what the checkpoint itself tells,
// else what the run's metrics said last up to its step.
func (a *app) values(ctx context.Context, p place, list []saved, m metric) ([]float64, error) {
	known := map[tracker.RunID][]tracker.Point{}
	values := make([]float64, len(list))
	for i, s := range list {
		v, ok := s.Metrics[m.name]
		switch {
		case ok:
			values[i] = v
			continue
		case s.run == "" || s.Step < 0:
			values[i] = math.NaN()
			continue
		}
		if _, read := known[s.run]; !read {
			series, err := a.seriesOf(ctx, p, s.run)
			if err != nil {
				return nil, err
			}
			known[s.run] = series[m.name]
		}
		values[i] = valueAt(known[s.run], stepBefore(list, s), s.Step)
	}
	return values, nil
}

// seriesOf reads the metrics of a run, also while it writes them and they are no artifact yet.
func (a *app) seriesOf(ctx context.Context, p place, run tracker.RunID) (tracker.Series, error) {
	series, err := p.series(ctx, a, run)
	if err != nil || len(series) > 0 {
		return series, err
	}
	for _, dir := range p.store.Layout().RunDirs(string(run)) {
		r, err := p.store.Open(ctx, dir.Join(metricsName))
		if errors.Is(err, store.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_, err = tracker.ReadMetrics(r, series.Add)
		_ = r.Close() // only read
		if err != nil {
			return nil, err
		}
	}
	series.Sort()
	return series, nil
}

// stepBefore is the next lower step of the same run.
func stepBefore(list []saved, s saved) int64 {
	before := int64(checkpoint.NoStep)
	for _, other := range list {
		if other.run == s.run && other.Step < s.Step {
			before = max(before, other.Step)
		}
	}
	return before
}

// valueAt is the last value at a step up to upto and behind after, NaN if there is none; points are in the order of
// their steps.
func valueAt(points []tracker.Point, after, upto int64) float64 {
	value := math.NaN()
	for _, p := range points {
		if p.Step <= after || p.Step > upto {
			continue
		}
		switch v := p.Value.(type) {
		case int64:
			value = float64(v)
		case float64:
			value = v
		case *big.Int:
			value, _ = new(big.Float).SetInt(v).Float64()
		}
	}
	return value
}

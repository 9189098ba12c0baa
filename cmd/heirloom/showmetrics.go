package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// showMetrics prints the series of a run: those that it recorded, and those in the files of metrics among its
// artifacts.
func (a *app) showMetrics(c *cobra.Command, text string, format render.Format) error {
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	id, err := p.visibleRun(c.Context(), text)
	if run, _, ok := strings.Cut(text, "#"); ok && errors.Is(err, store.ErrNotExist) {
		return &advised{err: invalidf("%s is an artifact, and only a run has series of metrics", text), advice: "heirloom show " + run + " --metrics"}
	}
	if err != nil {
		return err
	}
	series, err := p.series(c.Context(), a, id)
	if err != nil {
		return err
	}
	if len(series) == 0 {
		a.note("%s has no metrics", id)
	}
	return render.Metrics(a.stdout, series, format, a.style(a.stdout))
}

func (p place) series(ctx context.Context, a *app, id tracker.RunID) (tracker.Series, error) {
	artifacts, err := p.tracker.Artifacts(ctx, id)
	if err != nil {
		return nil, err
	}
	series := make(tracker.Series)
	for _, artifact := range artifacts {
		if artifact.Kind() != tracker.KindMetrics {
			continue
		}
		if err := p.addSeries(ctx, a, artifact, series); err != nil {
			a.warn("metrics of %s: %v", artifact.Name, err)
		}
	}
	recorded, err := p.tracker.Series(ctx, id)
	if err != nil {
		return nil, err
	}
	for name, points := range recorded {
		series[name] = append(series[name], points...)
	}
	series.Sort()
	return series, nil
}

// addSeries reads one file of metrics.
func (p place) addSeries(ctx context.Context, a *app, artifact tracker.Artifact, series tracker.Series) error {
	read := tracker.ReadMetrics
	switch {
	case strings.HasSuffix(artifact.Name, ".csv"):
		read = tracker.ReadMetricsCSV
	case !strings.HasSuffix(artifact.Name, ".jsonl"):
		return nil
	}
	key, err := store.ParseKey(artifact.Key())
	if err != nil {
		return err
	}
	r, err := p.store.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	bad, err := read(io.Reader(r), series.Add)
	if bad > 0 {
		a.warn("lines of %s that are no metrics: %d", artifact.Name, bad)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/tracker"
)

const datasetHelp = `Datasets are directories of Parquet that are made once, found again, and never
changed. Which one is meant is told by its name, NAME@VERSION, NAME or NAME@latest
(the highest version, digits compared as numbers), or by the beginning of its
fingerprint.

Inside a run stage, add, path and head record that the run made or uses the dataset.
To look is not to use: ls, show and check record nothing.`

const datasetExample = `  heirloom dataset stage raw.csv --name clicks@2026-11-20 --val 0.1 -- python prepare.py
  heirloom dataset add s3://lake/clicks/2026-11-20 --name clicks@2026-11-20
  heirloom dataset path clicks@latest --for spark`

func newDataset(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use: "dataset", Short: "stage Parquet once, and find it again", Long: datasetHelp, Example: datasetExample,
	}, newDatasetStage(a), newDatasetAdd(a), newDatasetLs(a), newDatasetPath(a), newDatasetPrune(a),
		newDatasetShow(a), newDatasetHead(a), newDatasetCheck(a))
}

// inRun calls f with the run that this process is part of, for what is recorded on the way; outside of one with nil.
func (a *app) inRun(ctx context.Context, f func(run *tracker.AppRun) error) (err error) {
	run, err := tracker.FromEnviron(ctx, a.environ, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	if run.ID() == tracker.UndefinedID {
		return f(nil)
	}
	return f(run)
}

// waitNote says now and then who is waited for.
func (a *app) waitNote() func(dataset.Waiting) {
	var last time.Time
	return func(w dataset.Waiting) {
		if time.Since(last) < 5*time.Second {
			return
		}
		last = time.Now()
		a.note("heirloom: waiting for %s:%d, which makes this dataset; last sign of life %s ago", w.Host, w.PID, w.Quiet.Round(time.Second))
	}
}

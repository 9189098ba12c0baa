package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/local"
	"github.com/heirloom-ml/heirloom/store"
)

// foreground runs the replicas of a plan here, with their output on ours. Any other shell sees them as if they had
// been submitted.
func (a *app) foreground(ctx context.Context, r *runner.Runner, plan *runner.Plan, job runner.Job, p place) error {
	scheduler, err := r.Scheduler(ctx, plan.Scheduler)
	if err != nil {
		return err
	}
	here, ok := scheduler.(*local.Scheduler)
	if !ok {
		return fmt.Errorf("scheduler %s has no foreground", plan.Scheduler)
	}
	launcher := runner.NewLauncher(p.store, p.tracker)
	launcher.Version, launcher.Adopt = readVersion().Version, true
	color, doubts, outputDir := a.style(a.stderr).Color, p.doubts(ctx, job.Sources), ""
	result, err := here.RunForeground(ctx, plan, local.Foreground{
		Stdin: job.Stdin, Stdout: job.Stdout, Stderr: job.Stderr, Launcher: launcher,
		Prefix: func(role string, replica int) string { return replicaPrefix(role, replica, color) },
		OnStart: func(s runner.Started) {
			outputDir = s.OutputDir
			a.tellStart(s, doubts)
		},
	})
	return a.ran(p, result, outputDir, err)
}

// carryOut runs a job in the foreground, tells of it, and ends as it ended. Any other shell sees it as if it had been
// submitted.
func (a *app) carryOut(c *cobra.Command, p place, job runner.Job) error {
	ctx := c.Context()
	doubts := p.doubts(ctx, job.Sources)
	launcher := runner.NewLauncher(p.store, p.tracker)
	launcher.Version = readVersion().Version
	color := a.style(a.stderr).Color
	job.Prefix = func(role string, replica int) string { return replicaPrefix(role, replica, color) } // where there are several
	outputDir := ""
	onStart := func(s runner.Started) {
		outputDir = s.OutputDir
		a.tellStart(s, doubts)
	}
	if job.Launch != nil { // of several processes that are one run none is all of it
		result, err := launcher.Run(ctx, job, onStart)
		return a.ran(p, result, outputDir, err)
	}
	here, err := a.local()
	if err != nil {
		doubts = append(doubts, fmt.Sprintf("other shells cannot follow or cancel this run: %v", err))
		result, err := launcher.Run(ctx, job, onStart)
		return a.ran(p, result, outputDir, err)
	}
	result, err := here.RunJob(ctx, launcher, job, onStart)
	return a.ran(p, result, outputDir, err)
}

// tellStart says what is known when a job starts.
func (a *app) tellStart(s runner.Started, doubts []string) {
	a.note("heirloom: store %s, run %s, output %s", store.RedactURL(s.Store), s.RunID, s.OutputDir)
	for _, notice := range s.Notices {
		a.note("heirloom: %s", notice)
	}
	for _, doubt := range doubts {
		a.warn("%s", doubt)
	}
}

// ran tells how a job in the foreground ended, and is its exit code as an error.
func (a *app) ran(p place, result runner.Result, outputDir string, err error) error {
	for _, w := range result.Warnings {
		if err == nil || !strings.Contains(err.Error(), w) { // else it is told as the error
			a.warn("%s", w)
		}
	}
	if err != nil {
		return err
	}
	if a.wantsJSON() {
		if err := a.printJSON(newRanRun(result, p.store.URL(), outputDir)); err != nil {
			return err
		}
	}
	if result.ExitCode != 0 {
		return jobExit{code: result.ExitCode}
	}
	return nil
}

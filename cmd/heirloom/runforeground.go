package main

import (
	"context"
	"fmt"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/local"
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

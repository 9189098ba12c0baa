package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/demo"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
)

// demoLauncher is what runs the demo's steps: here, or by a scheduler. program is how a step calls heirloom there.
func (a *app) demoLauncher(c *cobra.Command, p place, f launchFlags) (launcher demo.Launcher, program string, err error) {
	settings, err := a.settings(c.Context(), nil)
	if err != nil {
		return nil, "", err
	}
	scheduler, err := schedulerOf(runFlags{launchFlags: f}, settings)
	if err != nil {
		return nil, "", err
	}
	if scheduler == schedulerLocal && len(f.cfg) == 0 {
		here := runner.NewLauncher(p.store, p.tracker)
		here.Version = readVersion().Version
		program, err = executable()
		return here, program, err
	}
	r, err := a.launching("", p, workspace.NewKeeper(p.store, nil), scheduler)
	if err != nil {
		return nil, "", err
	}
	f.replicas = 1
	return &stepLauncher{app: a, place: p, runner: r, scheduler: scheduler, flags: f}, "heirloom", nil // it is in the PATH of every replica
}

// stepLauncher runs each step of the demo by a scheduler, as "heirloom run -s" does.
type stepLauncher struct {
	app       *app
	place     place
	runner    *runner.Runner
	scheduler string
	flags     launchFlags
}

// Run submits a step and waits for its end. A step that is interrupted is cancelled.
func (l *stepLauncher) Run(ctx context.Context, job runner.Job, started func(runner.Started)) (runner.Result, error) {
	var err error
	if job.Dir, err = l.app.workdir(); err != nil {
		return runner.Result{}, err
	}
	f := runFlags{name: job.Name, launchFlags: l.flags}
	request, err := l.app.request(ctx, l.runner, l.place, job, asked{app: commandApp(job.Args, f)}, f, l.scheduler)
	if err != nil {
		return runner.Result{}, err
	}
	plan, err := l.runner.Plan(ctx, request)
	if err != nil {
		return runner.Result{}, err
	}
	h, err := l.runner.Submit(ctx, plan)
	if err != nil {
		return runner.Result{}, err
	}
	started(runner.Started{RunID: plan.RunID, Store: l.place.store.URL()})
	status, err := l.runner.Wait(ctx, h, &runner.WaitOptions{Every: time.Second})
	if err != nil {
		return runner.Result{RunID: plan.RunID}, errors.Join(err, l.runner.Cancel(context.WithoutCancel(ctx), h, nil))
	}
	run, err := l.place.tracker.Run(ctx, plan.RunID)
	if err != nil {
		return runner.Result{RunID: plan.RunID}, err
	}
	return runner.Result{
		RunID: plan.RunID, State: status.State, ExitCode: status.ExitCode(), Restarts: status.NumRestarts,
		Started: status.Started, Ended: status.Ended, Artifacts: len(run.Artifacts),
	}, nil
}

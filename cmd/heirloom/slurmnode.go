package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/slurm"
	"github.com/heirloom-ml/heirloom/runner/workspace"
)

// newSlurmBatch is what a batch script of Slurm ends in: the side that records an attempt and runs its replicas.
func newSlurmBatch(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    slurm.BatchCommand + " DIR",
		Short:  "run an attempt of a job of Slurm, from its batch script",
		Hidden: true,
		Args:   takes("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			code, err := slurm.RunBatch(c.Context(), a.slurmNode(args[0]))
			if err == nil && code != 0 {
				return jobExit{code: code}
			}
			return err
		},
	}
}

// newSlurmTask is what srun starts for each replica.
func newSlurmTask(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    slurm.TaskCommand + " DIR",
		Short:  "run a replica of a job of Slurm, as a task of srun",
		Hidden: true,
		Args:   takes("DIR"),
		RunE:   func(c *cobra.Command, args []string) error { return slurm.RunTask(c.Context(), a.slurmNode(args[0])) },
	}
}

func (a *app) slurmNode(dir string) slurm.Node {
	return slurm.Node{
		Dir: dir, Environ: a.environ, Stdout: a.stdout, Stderr: a.stderr,
		Launcher: a.recordingLauncher, Restore: a.restoreWorkspaces,
	}
}

// recordingLauncher opens the place that a plan is recorded in, wherever this process runs.
func (a *app) recordingLauncher(ctx context.Context, recording runner.Recording) (*runner.Launcher, func() error, error) {
	p, err := a.recordingPlace(ctx, recording)
	if err != nil {
		return nil, nil, err
	}
	l := runner.NewLauncher(p.store, p.tracker)
	l.Version = readVersion().Version
	return l, func() error { return nil }, nil // the app closes what it opened
}

func (a *app) recordingPlace(ctx context.Context, recording runner.Recording) (place, error) {
	c, err := a.settings(ctx, map[string]string{config.Store: recording.Store, config.Tracker: recording.Tracker})
	if err != nil {
		return place{}, err
	}
	return a.open(ctx, c)
}

func (a *app) restoreWorkspaces(ctx context.Context, recording runner.Recording, dirs []runner.WorkspaceDir, to string) error {
	p, err := a.recordingPlace(ctx, recording)
	if err != nil {
		return err
	}
	list := make([]workspace.Placed, len(dirs))
	for i, d := range dirs {
		list[i] = workspace.Placed{Digest: d.Digest, To: d.To}
	}
	return workspace.RestoreAll(ctx, p.store, list, to)
}

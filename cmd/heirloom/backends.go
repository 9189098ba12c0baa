package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/local"
	"github.com/heirloom-ml/heirloom/runner/slurm"
)

// The names of the schedulers, as in handles.
const (
	schedulerLocal = local.Name
	schedulerSlurm = "slurm"
)

// openLocal makes the scheduler of this machine.
func (a *app) openLocal(context.Context) (runner.Scheduler, error) { return a.local() }

func (a *app) local() (*local.Scheduler, error) {
	state, err := a.stateDir(schedulerLocal)
	if err != nil {
		return nil, err
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	return local.New(local.Options{
		StateDir: state, Supervise: []string{exe, superviseCommand}, Environ: a.environ, BinDir: filepath.Dir(exe),
		Launcher: a.launcherFor,
	})
}

// launcherFor makes the launcher that records in the store and tracker of these URLs. What it opens is closed with the
// command.
func (a *app) launcherFor(ctx context.Context, store, tracker string) (*runner.Launcher, func() error, error) {
	l, done, err := a.recordingLauncher(ctx, runner.Recording{Store: store, Tracker: tracker})
	if err == nil {
		l.Adopt = true
	}
	return l, done, err
}

// openSlurm makes the scheduler of the cluster that the environment's commands speak to.
func (a *app) openSlurm(context.Context) (runner.Scheduler, error) {
	state, err := a.stateDir(schedulerSlurm)
	if err != nil {
		return nil, err
	}
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	return slurm.New(slurm.Options{Environ: a.environ, StateDir: state, Program: exe})
}

// executable is the path of this program, for those who start it again.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return path, nil
}

// hasProgram says whether a program is in the PATH.
func (a *app) hasProgram(name string) bool {
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(cmp.Or(dir, "."), name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

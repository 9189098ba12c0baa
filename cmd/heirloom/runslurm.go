package main

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/runner"
)

// slurmFlags are what run is told for Slurm alone.
type slurmFlags struct {
	script     string
	sbatchArgs []string
	setup      []string
}

func (f *slurmFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.script, "script", "", "with -s slurm: a batch `FILE` of your own, run unchanged; its arguments stand behind the flags")
	flags.StringArrayVar(&f.sbatchArgs, "sbatch-arg", nil, "with -s slurm: a further `ARG` of sbatch, as --exclusive; may be repeated")
	flags.StringArrayVar(&f.setup, "setup", nil, "with -s slurm: a shell `LINE` before the job starts, as \"module load cuda\"; may be repeated")
	register(c, "script", files)
}

// checkScheduler refuses what the scheduler would pass over.
func (f *slurmFlags) checkScheduler(c *cobra.Command, scheduler string) error {
	if scheduler == schedulerSlurm {
		return nil
	}
	for _, flag := range []string{"script", "sbatch-arg", "setup"} {
		if c.Flags().Changed(flag) {
			return usagef(c.CommandPath(), "--%s is for the scheduler %s, not %s; give -s %s", flag, schedulerSlurm, scheduler, schedulerSlurm)
		}
	}
	return nil
}

// slurmConfig are the flags as options of the scheduler; what was not given is not there.
func (f *slurmFlags) slurmConfig(dir string) runner.Config {
	config := runner.Config{}
	if f.script != "" {
		config["script"] = absolute(dir, f.script)
	}
	if len(f.sbatchArgs) > 0 {
		config["sbatch_args"] = f.sbatchArgs
	}
	if len(f.setup) > 0 {
		config["setup"] = f.setup
	}
	return config
}

// scriptApp is the App of a batch script of the user's own.
func (a *app) scriptApp(c *cobra.Command, args []string, f runFlags) (runner.App, error) {
	for _, flag := range []string{"stdin", "replicas", "max-retries"} {
		if c.Flags().Changed(flag) {
			return runner.App{}, usagef(c.CommandPath(), "--script and --%s contradict each other", flag)
		}
	}
	dir, err := a.workdir()
	if err != nil {
		return runner.App{}, err
	}
	role := runner.Role{Name: "script", Entrypoint: absolute(dir, f.script), NumReplicas: 1}
	for _, arg := range args {
		role.Args = append(role.Args, runner.EscapeMacros(arg))
	}
	return runner.App{Name: cmp.Or(f.name, runner.CommandName([]string{f.script})), Roles: []runner.Role{role}}, nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const rerunHelp = `Do a run once more: the same command, parameters, tags, sources, inputs and outputs, started
from an equal tree, in which the recorded variables (OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES,
PYTHONHASHSEED and their like) have the values they had. The new run is linked to the old.

The workspaces that the run was started from ("heirloom run --workspace") are restored,
verified, into the current directory or --dir, which must be empty. A run without one can
be done once more in a clean git checkout of the commit that it ran, at the directory
where it was started; --as-is takes the current directory, whatever it holds.

What redaction took out of the record (passwords, tokens) cannot be done once more: it is
named, and nothing is started (exit code 4). Give the whole command behind "--", or
--param K=V, --output PATH; a variable is taken from the environment if it is set there.

Else the exit code is that of run.`

const rerunExample = `  mkdir again && cd again && heirloom rerun train-x7f2
  heirloom rerun train-x7f2 --dir /scratch/again --name train-again
  heirloom rerun train-x7f2 --dry-run
  heirloom rerun train-x7f2 --param lr=0.2 -- python train.py --lr 0.2`

// rerunFlags are what rerun is told beside the run.
type rerunFlags struct {
	runFlags
	dir          string
	dryRun, asIs bool
}

func newRerun(a *app) *cobra.Command {
	var f rerunFlags
	c := &cobra.Command{
		Use:     "rerun [flags] RUN [-- COMMAND [ARG...]]",
		Short:   "do a run once more, from an equal tree",
		Long:    rerunHelp,
		Example: rerunExample,
		Args:    rerunArgs,

		ValidArgsFunction: a.completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			if f.dir != "" && f.asIs {
				return usagef(c.CommandPath(), "--dir and --as-is contradict each other")
			}
			return a.runRerun(c, args, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.dir, "dir", "", "`DIR` to restore into and to start in, made if it is missing (default: the current one)")
	flags.BoolVar(&f.asIs, "as-is", false, "start in the current directory as it is, and restore nothing")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be started, and what is missing, and start nothing")
	f.registerFacts(c, a, true)
	register(c, "dir", files)
	return c
}

// rerunArgs wants one RUN, and allows a command behind "--" alone.
func rerunArgs(c *cobra.Command, args []string) error {
	named := len(args)
	if at := c.ArgsLenAtDash(); at >= 0 {
		named = at
		if at == len(args) {
			return usagef(c.CommandPath(), "there is no command behind --")
		}
	}
	if named != 1 {
		return usagef(c.CommandPath(), "one RUN is wanted, not %d; a command stands behind --", named)
	}
	return nil
}

func (a *app) runRerun(c *cobra.Command, args []string, f rerunFlags) error {
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	settings, err := a.settings(c.Context(), f.settings(c))
	if err != nil {
		return err
	}
	p, err := a.open(c.Context(), settings)
	if err != nil {
		return err
	}
	id, err := p.findRun(c.Context(), args[0])
	if err != nil {
		return err
	}
	run, err := p.tracker.Run(c.Context(), id)
	if err != nil {
		return err
	}
	again, err := runner.NewRerun(run)
	if err != nil {
		return err
	}
	job, err := a.rerunJob(c.Context(), p, settings, &again, args[1:], f)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.printRerun(again, job)
	}
	if err := refuseMissing(id, again); err != nil {
		return err
	}
	if err := a.rerunPlace(c.Context(), p, again, &job, f); err != nil {
		return err
	}
	a.note("heirloom: %s once more, in %s", id, job.Dir)
	return a.carryOut(c, p, job)
}

// rerunJob is what was recorded, with what the flags say in its place.
func (a *app) rerunJob(ctx context.Context, p place, c *config.Config, again *runner.Rerun, command []string, f rerunFlags) (runner.Job, error) {
	given, err := f.parameters()
	if err != nil {
		return runner.Job{}, err
	}
	job, err := a.job(ctx, p, c, command, f.runFlags)
	if err != nil {
		return runner.Job{}, err
	}
	if len(command) > 0 {
		again.ReplaceCommand(command)
	}
	old := again.Job
	job.Args, job.App, job.ParamsFromArgs = old.Args, old.App, old.ParamsFromArgs
	job.Name, job.RerunOf, job.Tags = old.Name, old.RerunOf, old.Tags
	if f.name != "" {
		job.Name = f.name
	}
	if c.Get(config.Project).Origin.Level == config.LevelDefault {
		job.Project = old.Project
	}
	if c.Get(config.Experiment).Origin.Level == config.LevelDefault {
		job.Experiment = old.Experiment
	}
	if len(f.outputs) == 0 {
		job.Outputs = old.Outputs
	}
	job.Params = old.Params
	job.Params.Merge(given)
	job.Sources = slices.Concat(old.Sources, job.Sources)
	job.Environ = again.Surroundings(job.Environ)
	again.Missing = slices.DeleteFunc(again.Missing, func(m runner.Redacted) bool {
		_, replaced := given.Get(m.Name)
		return m.Kind == runner.RedactedParam && replaced || m.Kind == runner.RedactedEnviron && a.getenv(m.Name) != "" ||
			m.Kind == runner.RedactedOutput && len(f.outputs) > 0
	})
	return job, nil
}

// refusedError is a sentence that is runner.ErrRefused.
type refusedError string

func (e refusedError) Error() string { return string(e) }

func (e refusedError) Unwrap() error { return runner.ErrRefused }

func refused(format string, args ...any) error { return refusedError(fmt.Sprintf(format, args...)) }

// refuseMissing names what was not recorded.
func refuseMissing(id tracker.RunID, again runner.Rerun) error {
	if len(again.Missing) == 0 {
		return nil
	}
	list := make([]string, len(again.Missing))
	for i, m := range again.Missing {
		list[i] = m.String()
	}
	return &advised{
		err:    refused("%s cannot be done once more, for what is or looks like a secret was not recorded: %s", id, strings.Join(list, "; ")),
		advice: "give the whole command behind --, a parameter by --param, a variable in the environment",
	}
}

// rerunPlace makes the directory that the job starts in.
func (a *app) rerunPlace(ctx context.Context, p place, again runner.Rerun, job *runner.Job, f rerunFlags) error {
	if f.asIs {
		return nil
	}
	if f.dir != "" {
		if !filepath.IsAbs(f.dir) {
			f.dir = filepath.Join(job.Dir, f.dir)
		}
		job.Dir = f.dir
	}
	if len(again.RoleWorkspaces) > 0 {
		return placeRoles(ctx, p.store, again, job)
	}
	if len(again.Workspace) == 0 {
		return a.checkout(ctx, again, job)
	}
	job.Workspace = again.Workspace
	return placeIn(ctx, p.store, again.Workspace, job.Dir)
}

// placeIn lays workspaces out where a run is done once more.
func placeIn(ctx context.Context, s *store.Store, list []runner.WorkspaceDir, dir string) error {
	err := workspace.Place(ctx, s, list, dir)
	if errors.Is(err, store.ErrExist) {
		return &advised{err: refused("%s is not empty, and the workspace of the run would lie in it", dir), advice: "call it in an empty directory, or with --dir; --as-is restores nothing"}
	}
	return err
}

// placeRoles lays the workspaces of each role out in a directory named after it.
func placeRoles(ctx context.Context, s *store.Store, again runner.Rerun, job *runner.Job) error {
	if len(job.App.Roles) == 0 {
		return &advised{err: refused("the roles of %s started from different workspaces, and a command in their place has no role", again.Job.RerunOf), advice: "--as-is starts it in the current directory as it is"}
	}
	top, dirs := job.Dir, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(again.RoleWorkspaces)) {
		dirs[name] = filepath.Join(top, store.EncodeRun(name))
		if err := placeIn(ctx, s, again.RoleWorkspaces[name], dirs[name]); err != nil {
			return err
		}
		job.Workspace = append(job.Workspace, again.RoleWorkspaces[name]...)
	}
	job.RoleDir = func(role string) string { return dirs[role] }
	return nil
}

// checkout makes sure that the directory is a clean checkout of the commit that the run was of.
func (a *app) checkout(ctx context.Context, again runner.Rerun, job *runner.Job) error {
	refuse := func(format string, args ...any) error {
		return &advised{
			err:    refused("%s kept no workspace, and %s", again.Job.RerunOf, fmt.Sprintf(format, args...)),
			advice: "--as-is starts it in the current directory as it is; heirloom run --workspace DIR keeps it the next time",
		}
	}
	switch {
	case again.Commit == "":
		return refuse("was not started in a git checkout")
	case again.Dirty:
		return refuse("the checkout it was started in had changes beside the commit %s", again.Commit)
	}
	from := ""
	if again.Remote != "" {
		from = " of " + store.RedactURL(again.Remote)
	}
	head, err := a.git(ctx, job.Dir, "rev-parse", "--verify", "HEAD")
	if err != nil || strings.TrimSpace(head) != again.Commit {
		return refuse("%s is no checkout of the commit %s%s, which it ran", job.Dir, again.Commit, from)
	}
	if status, err := a.git(ctx, job.Dir, "status", "--porcelain", "--untracked-files=no"); err != nil || status != "" {
		return refuse("the checkout %s has changes beside the commit %s, which it ran", job.Dir, again.Commit)
	}
	return nil
}

func (a *app) git(ctx context.Context, dir string, args ...string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.Env = dir, a.environ
	out, err := cmd.Output()
	return string(out), err
}

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
)

// backends is the table of schedulers.
func (a *app) backends() []runner.Backend {
	return []runner.Backend{
		{Name: schedulerLocal, Help: "this machine: a supervisor for each app, which outlives who started it", Open: a.openLocal},
		{Name: schedulerSlurm, Help: "a Slurm cluster, by sbatch", Open: a.openSlurm},
	}
}

// runnerOf makes the runner of a session, "" = the usual one. It is closed with the command.
func (a *app) runnerOf(session string) (*runner.Runner, error) { return a.runnerWith(session, nil) }

// runnerWith is runnerOf where apps may have workspaces.
func (a *app) runnerWith(session string, options *runner.Options) (*runner.Runner, error) {
	r, err := runner.New(session, a.backends(), options)
	if err == nil {
		a.runners = append(a.runners, r)
	}
	return r, err
}

// stateDir is a directory below the user's own for state that outlives a command.
func (a *app) stateDir(name string) (string, error) {
	dir := a.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := a.getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", invalidf("there is no place for the state of %s: neither XDG_STATE_HOME nor HOME is an absolute path", name)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "heirloom", name), nil
}

func newSchedulers(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "schedulers",
		Short:   "list the schedulers that run jobs",
		Long:    "List the schedulers that jobs can be given to by run -s. The default is local, or\nwhat HEIRLOOM_SCHEDULER, [cli:run] in .torchxconfig or default_scheduler in heirloom.toml says.",
		Example: "  heirloom schedulers",
		Args:    takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			format, err := a.format(render.ListFormats)
			if err != nil {
				return err
			}
			settings, err := a.settings(c.Context(), nil)
			if err != nil {
				return err
			}
			chosen, err := schedulerName(settings.Get(config.Scheduler).Text)
			if err != nil {
				a.warn("%v", err)
			}
			list := render.List{Key: "schedulers", Columns: []render.Column{{Name: "name"}, {Name: "default"}, {Name: "help"}}}
			for _, b := range a.backends() {
				list.Rows = append(list.Rows, []any{b.Name, b.Name == chosen, b.Help})
			}
			return a.printList(list, format)
		},
	}
}

// completeSchedulers completes the name of a scheduler.
func (a *app) completeSchedulers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, b := range a.backends() {
		names = append(names, b.Name+"\t"+b.Help)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// tables reads what the files say of schedulers and components.
func (a *app) tables() (*config.Tables, error) {
	dir, err := a.workdir()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return config.LoadTables(config.Input{Environ: a.environ, Dir: dir})
}

// ofScheduler is what the files say of a scheduler; of that of this machine also what TorchX's say under its name there.
func ofScheduler(tables *config.Tables, name string) []config.Entry {
	if name != schedulerLocal {
		return tables.Scheduler(name)
	}
	return append(tables.Scheduler(torchxLocal), tables.Scheduler(schedulerLocal)...) // the last counts
}

// options are those of a scheduler: of the files, then of --cfg. What TorchX's files say that
// heirloom's scheduler does not have is passed over with a warning, as TorchX does.
func (a *app) options(ctx context.Context, r *runner.Runner, scheduler string, cfg []string) (runner.Config, error) {
	set, err := r.Options(ctx, scheduler)
	if err != nil {
		return nil, err
	}
	tables, err := a.tables()
	if err != nil {
		return nil, err
	}
	all := runner.Config{}
	for _, e := range ofScheduler(tables, scheduler) {
		option, known := set.Get(e.Key)
		if !known && !e.Ours {
			a.warn("%s: scheduler %s has no option %s; it is passed over", e.File, scheduler, e.Key)
			continue
		}
		if !known {
			return nil, invalidf("read %s: scheduler %s has no option %s, known: %s", e.File, scheduler, e.Key, strings.Join(set.Names(), ", "))
		}
		all[option.Name] = e.Value
	}
	given, err := r.ParseConfig(ctx, scheduler, cfg...)
	if err != nil {
		return nil, err
	}
	return all.Merge(given), nil
}

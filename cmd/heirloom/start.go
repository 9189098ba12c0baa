package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const startHelp = `Begin a run that cannot be wrapped by "heirloom run": a notebook, a task of Airflow
or Databricks. What follows belongs to it, if it has the environment that is printed:
heirloom add, Python code written for TorchX's tracker, "heirloom run" for its children.
"heirloom finish" stores its outputs and ends it.

The id is printed on stdout; with --export the whole environment, for a shell to read;
with --json both. Nobody gives signs of life of such a run, so that it is RUNNING until
it is finished; with --lost-after it is LOST when "heirloom beat" was not called for as
long. With --run an id may be given, and a run that is known gets a further attempt.`

const startExample = `  eval "$(heirloom start --name explore --source train-x7f2 --export)"
  heirloom add metadata metrics.accuracy=0.93
  heirloom finish`

func newStart(a *app) *cobra.Command {
	var f runFlags
	var export bool
	var lostAfter time.Duration
	c := &cobra.Command{
		Use:     "start",
		Short:   "begin a run that cannot be wrapped",
		Long:    startHelp,
		Example: startExample,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.hasRunID = c.Flags().Changed("run")
			if err := f.checkResume(c); err != nil {
				return err
			}
			if export && a.wantsJSON() {
				return usagef(c.CommandPath(), "--export and --json contradict each other")
			}
			return a.start(c, f, export, lostAfter)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&f.name, "name", "n", "", "`NAME` of the run, also in its id (default: run)")
	flags.StringVar(&f.project, "project", "", "`NAME` of the project it belongs to (HEIRLOOM_PROJECT)")
	flags.StringVar(&f.experiment, "experiment", "", "`NAME` of the experiment it belongs to (HEIRLOOM_EXPERIMENT)")
	flags.StringArrayVar(&f.sources, "source", nil, "`RUN[#ARTIFACT]` that it uses; may be repeated")
	flags.StringArrayVar(&f.inputs, "input", nil, "`NODE` that it uses: name@version, URI or path; may be repeated")
	flags.StringVar(&f.params, "params", "", "JSON or TOML `FILE` of parameters")
	flags.StringArrayVar(&f.pairs, "param", nil, "`K=V` or K:=JSON, a parameter; may be repeated")
	f.registerRun(c, "has not ended")
	flags.BoolVar(&export, "export", false, "print the environment as commands of a shell")
	ageFlag(flags, &lostAfter, "lost-after", "`TIME` without a beat after which it is lost; 0 = never")
	register(c, "source", a.completeRun)
	for _, flag := range []string{"params", "input"} {
		register(c, flag, files)
	}
	return c
}

// startedRun is a run that has begun, as start --json prints it; fields are only ever added.
type startedRun struct {
	Run         tracker.RunID     `json:"run"`
	State       tracker.State     `json:"state"`
	Attempt     int               `json:"attempt"`
	Store       string            `json:"store"`
	OutputDir   string            `json:"output_dir"`
	Environment map[string]string `json:"environment"` // what its processes are to have
}

func (a *app) start(c *cobra.Command, f runFlags, export bool, lostAfter time.Duration) error {
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
	job, err := a.job(c.Context(), p, settings, nil, f)
	if err != nil {
		return err
	}
	job.ParamsFromArgs = false
	launcher := runner.NewLauncher(p.store, p.tracker)
	launcher.Version = readVersion().Version
	opened, err := launcher.Open(c.Context(), job, lostAfter)
	if err != nil {
		return err
	}
	for _, notice := range slices.Concat(opened.Notices, p.doubts(c.Context(), job.Sources)) {
		a.note("heirloom: %s", notice)
	}
	a.note("heirloom: store %s, run %s, output %s", store.RedactURL(opened.Store), opened.RunID, opened.OutputDir)
	return a.printStarted(opened, export)
}

func (a *app) printStarted(opened runner.Opened, export bool) error {
	environment := map[string]string{}
	for _, entry := range opened.Environ {
		name, value, _ := strings.Cut(entry, "=")
		environment[name] = value
	}
	switch {
	case a.wantsJSON():
		return a.printJSON(startedRun{
			Run: opened.RunID, State: tracker.Running, Attempt: opened.Attempt, Store: store.RedactURL(opened.Store),
			OutputDir: opened.OutputDir, Environment: environment,
		})
	case export:
		for _, name := range slices.Sorted(maps.Keys(environment)) {
			if _, err := fmt.Fprintf(a.stdout, "export %s=%s\n", name, shellWord(environment[name])); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := fmt.Fprintln(a.stdout, opened.RunID)
	return err
}

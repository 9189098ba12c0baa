package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const finishHelp = `End a run that "heirloom start" began: store and register what lies in its output
directory, and record how it ended. Without RUN it is that of the environment
(HEIRLOOM_RUN_ID, TORCHX_JOB_ID).

It has succeeded, unless --state says otherwise, or --exit-code is not 0. To say the same
once more changes nothing; to say something else of a run that has ended is refused (4).
A run whose launcher is alive is refused too; of one that was lost the end may be told.

On a store that is not local disk the outputs lie in $HEIRLOOM_OUTPUT_DIR of the machine
where the run was started: call it there, in the same environment. With --export the
commands that clear this environment are printed, for a shell to read.`

const finishExample = `  heirloom finish
  heirloom finish explore-x7f2 --state failed
  heirloom finish --exit-code $? --output report.html
  eval "$(heirloom finish --export)"`

// finishFlags are what finish is told of the end.
type finishFlags struct {
	state, hash string
	exitCode    int
	outputs     []string
	export      bool
}

func newFinish(a *app) *cobra.Command {
	var f finishFlags
	c := &cobra.Command{
		Use:               "finish [RUN]",
		Short:             "end a run that was begun by start",
		Long:              finishHelp,
		Example:           finishExample,
		Args:              atMostOneRun,
		ValidArgsFunction: a.completeRun,
		RunE: func(c *cobra.Command, args []string) error {
			if f.export && a.wantsJSON() {
				return usagef(c.CommandPath(), "--export and --json contradict each other")
			}
			return a.finishRun(c, args, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.state, "state", "", "how it ended: `STATE` succeeded, failed or cancelled")
	flags.IntVar(&f.exitCode, "exit-code", 0, "`N` that it ended with; not 0 means that it failed")
	flags.StringArrayVar(&f.outputs, "output", nil, "`PATH` that it wrote, registered where it lies; may be repeated")
	flags.StringVar(&f.hash, "hash", "", "what to record of outputs, `MODE` sha256, size or none (HEIRLOOM_HASH; default sha256)")
	flags.BoolVar(&f.export, "export", false, "print the commands of a shell that clear the run's environment")
	register(c, "state", fixed([]string{"succeeded", "failed", "cancelled"}))
	register(c, "hash", fixed(hashModes()))
	register(c, "output", files)
	return c
}

func atMostOneRun(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef(c.CommandPath(), "one RUN at most is wanted, not %d", len(args))
	}
	return nil
}

// ending reads state and exit code, which must not contradict each other.
func (f finishFlags) ending(c *cobra.Command) (runner.Ending, error) {
	e := runner.Ending{State: tracker.Succeeded, Outputs: f.outputs, Hash: runner.HashMode(f.hash)}
	if c.Flags().Changed("exit-code") {
		if f.exitCode < 0 || f.exitCode > 255 {
			return e, usagef(c.CommandPath(), "--exit-code is from 0 to 255, not %d", f.exitCode)
		}
		e.ExitCode = &f.exitCode
		if f.exitCode != 0 {
			e.State = tracker.Failed
		}
	}
	switch state := tracker.State(strings.ToUpper(f.state)); {
	case f.state == "":
	case !state.Terminal():
		return e, usagef(c.CommandPath(), "--state %q is none of succeeded, failed, cancelled", f.state)
	case state == tracker.Succeeded && e.State == tracker.Failed:
		return e, usagef(c.CommandPath(), "--state succeeded and --exit-code %d contradict each other", f.exitCode)
	default:
		e.State = state
	}
	return e, nil
}

func (a *app) finishRun(c *cobra.Command, args []string, f finishFlags) error {
	ending, err := f.ending(c)
	if err != nil {
		return err
	}
	if _, err := a.format(documentFormats()); err != nil {
		return err
	}
	settings, err := a.settings(c.Context(), map[string]string{config.Hash: f.hash})
	if err != nil {
		return err
	}
	p, err := a.open(c.Context(), settings)
	if err != nil {
		return err
	}
	if ending.RunID, err = a.openRun(c, settings, p, args); err != nil {
		return err
	}
	if ending.Dir, err = a.workdir(); err != nil {
		return err
	}
	ending.Environ, ending.Hash = a.environ, runner.HashMode(settings.Get(config.Hash).Text)
	result, err := runner.NewLauncher(p.store, p.tracker).Finish(c.Context(), ending)
	for _, w := range result.Warnings {
		a.warn("%s", w)
	}
	if err != nil {
		return err
	}
	return a.printFinished(p, result, f.export)
}

// openRun is the run that is named, else that of the environment.
func (a *app) openRun(c *cobra.Command, settings *config.Config, p place, args []string) (tracker.RunID, error) {
	if len(args) > 0 {
		return p.findRun(c.Context(), args[0])
	}
	own := settings.Get(config.Run)
	if own.Text == "" {
		return "", usagef(c.CommandPath(), "no run is named: say RUN, or call this with the environment that start printed (HEIRLOOM_RUN_ID)")
	}
	return tracker.ParseRunID(own.Text)
}

func (a *app) printFinished(p place, result runner.Result, export bool) error {
	if a.wantsJSON() {
		return a.printJSON(newRanRun(result, store.RedactURL(p.store.URL()), ""))
	}
	a.note("heirloom: run %s has ended as %s, %s", result.RunID, result.State, count(result.Artifacts, "artifact"))
	if !export {
		return nil
	}
	var ours []string
	for _, entry := range a.environ {
		name, value, _ := strings.Cut(entry, "=")
		own := name != "TORCHX_TRACKERS" && name != "TORCHX_TRACKER_FSSPEC_CONFIG" || value == "fsspec" || strings.Contains(value, "heirloom-run-")
		if own && slices.Contains(runner.JobVariables(), name) {
			ours = append(ours, name)
		}
	}
	slices.Sort(ours)
	if len(ours) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "unset %s\n", strings.Join(slices.Compact(ours), " "))
	return err
}

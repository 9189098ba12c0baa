package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

const addHelp = `Add facts to a run, in any language, from inside the job or later.

Inside a job that heirloom or TorchX launched, the run is known
(HEIRLOOM_RUN_ID, TORCHX_JOB_ID); elsewhere name it with --run. A run that does
not exist yet is begun if its id is a full one, scheduler://session/name.`

const addExample = `  heirloom add metadata tags.team=vision params.layers:=3
  heirloom add artifact model out/model.safetensors --kind model
  heirloom add source train-x7f2 --artifact model
  heirloom add input clicks@2026-11-20 --uri s3://data/clicks/2026-11-20`

func newAdd(a *app) *cobra.Command {
	add := group(&cobra.Command{
		Use: "add", Short: "add facts to a run", Long: addHelp, Example: addExample,
	}, newAddMetadata(a), newAddArtifact(a), newAddSource(a), newAddInput(a))
	add.PersistentFlags().String("run", "", "the run, its `ID` or any unique part of it (HEIRLOOM_RUN_ID)")
	_ = add.RegisterFlagCompletionFunc("run", a.completeRun) // the flag exists, so there is no error
	return add
}

// target is the run that the add commands write to, and where it is recorded.
type target struct {
	place
	writer tracker.Tracker // of place and, in a job that TorchX launched, of its other trackers
	run    tracker.RunID
	dir    string // the working directory, which relative paths are meant below
}

// addition is what the add commands print as JSON; fields are only ever added.
type addition struct {
	Run tracker.RunID `json:"run"` // the full id of the run that was written to
}

// added says what was recorded, to the journal too unless it is the job of a run that goes on, whose end will tell.
func (a *app) added(ctx context.Context, t target, format string, args ...any) error {
	if a.getenv("HEIRLOOM_RUN_ID") != string(t.run) {
		if err := t.tracker.Announce(ctx, t.run); err != nil {
			a.warn("it is recorded, and others see it late: %v", err)
		}
	}
	if a.wantsJSON() {
		return a.printJSON(addition{Run: t.run})
	}
	a.note("%s: %s", t.run, fmt.Sprintf(format, args...))
	return nil
}

// target opens the place and finds the run: --run first, then the environment of the job.
func (a *app) target(c *cobra.Command) (target, error) {
	if _, err := a.format(documentFormats()); err != nil {
		return target{}, err
	}
	settings, err := a.settings(c.Context(), nil)
	if err != nil {
		return target{}, err
	}
	p, err := a.open(c.Context(), settings)
	if err != nil {
		return target{}, err
	}
	dir, err := a.workdir()
	if err != nil {
		return target{}, err
	}
	t := target{place: p, dir: dir}
	if t.run, err = a.targetRun(c, settings, p); err != nil {
		return target{}, err
	}
	t.writer, err = a.writer(c.Context(), settings, p)
	return t, err
}

func (a *app) targetRun(c *cobra.Command, settings *config.Config, p place) (tracker.RunID, error) {
	if named := c.Flag("run"); named.Changed {
		return p.writable(c.Context(), named.Value.String())
	}
	own := settings.Get(config.Run)
	if own.Text == "" {
		return "", a.noRun(c)
	}
	if err := a.placed(c, settings); err != nil {
		return "", err
	}
	run, err := tracker.ParseRunID(own.Text)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", own.Origin.Place, err)
	}
	return run, nil
}

// placed refuses to make a new store for a job whose TorchX trackers are none that is known here.
func (a *app) placed(c *cobra.Command, settings *config.Config) error {
	names := a.getenv("TORCHX_TRACKERS")
	if names == "" || settings.Get(config.Tracker).Text != "" || settings.Get(config.Store).Origin.Level != config.LevelDefault {
		return nil
	}
	return usagef(c.CommandPath(), "TORCHX_TRACKERS is %q, of which only a configured fsspec is known here; say --store URL", names)
}

// noRun says why it is unknown which run is meant.
func (a *app) noRun(c *cobra.Command) error {
	if a.getenv("TORCHX_TRACKERS") != "" {
		return usagef(c.CommandPath(), "no run is named: TORCHX_TRACKERS is set but TORCHX_JOB_ID is not; say --run ID")
	}
	return usagef(c.CommandPath(), "no run is named: say --run ID, or call this inside a job (HEIRLOOM_RUN_ID)")
}

// writable is the run that text names. A full id names itself, whether it is recorded or not: as a part of another,
// "…/job-1" would be taken for "…/job-10".
func (p place) writable(ctx context.Context, text string) (tracker.RunID, error) {
	if isHandle(text) {
		return tracker.ParseRunID(text)
	}
	return p.findRun(ctx, text)
}

// isHandle reports the form scheduler://session/name, which nobody types by accident.
func isHandle(text string) bool {
	_, err := runner.ParseHandle(text)
	return err == nil
}

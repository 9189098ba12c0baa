package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/demo"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newDemo(a *app) *cobra.Command {
	var f launchFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "run a real pipeline on real data, recorded, in seconds",
		Long: `Run a real machine-learning pipeline on real data and show what was recorded.

A small network learns handwritten digits (1,797 images, UCI): prepare writes
train, validation and test Parquet, train runs twice with different settings,
finetune goes on from the better checkpoint, evaluate measures it on the test
split. Each step is a process of its own, launched and recorded as your own jobs
are. It may be repeated, and takes any store and scheduler; with -s slurm the steps
run on a cluster, whose nodes must reach the store.`,
		Example: "  heirloom demo\n  heirloom demo --store s3://bucket/prefix\n  heirloom demo -s slurm --cfg partition=main --store /shared/demo",
		Args:    takes(""),
		RunE:    func(c *cobra.Command, _ []string) error { return a.runDemo(c, f) },
	}
	f.registerScheduler(c, a)
	return c
}

func (a *app) runDemo(c *cobra.Command, f launchFlags) error {
	format, p, err := a.formatHere(c.Context(), documentFormats())
	if err != nil {
		return err
	}
	launcher, program, err := a.demoLauncher(c, p, f)
	if err != nil {
		return err
	}
	a.note("heirloom: the demo goes to %s", p.store.URL())
	outcome, err := demo.Run(c.Context(), demo.Config{
		Launcher: launcher, Tracker: p.tracker, Store: p.store, Executable: program, Environ: a.surroundings(p),
		Stderr:   a.stderr,
		Starting: func(name string, s runner.Started) { a.note("%-12s %s", name, s.RunID) },
		Ended:    a.demoStepEnded,
	})
	if err != nil {
		return demoError(err)
	}
	if format != render.Table {
		return render.Document(a.stdout, newDemoed(outcome), format)
	}
	return a.printDemo(c.Context(), p, outcome)
}

func (a *app) demoStepEnded(l demo.Launched) {
	a.note("%-12s %s in %s", "", l.State, l.Ended.Sub(l.Started).Round(time.Millisecond))
	for _, w := range l.Warnings {
		a.warn("%s", w)
	}
}

// demoError makes an interrupted step an interrupted command.
func demoError(err error) error {
	var failed *demo.FailedError
	if errors.As(err, &failed) && failed.State == tracker.Cancelled {
		return fmt.Errorf("%w: %w", err, context.Canceled)
	}
	return err
}

// printDemo prints the runs, the lineage of the evaluated model, and what to try next.
func (a *app) printDemo(ctx context.Context, p place, outcome demo.Outcome) error {
	var runs []*tracker.Run
	for _, l := range outcome.Runs {
		run, err := p.tracker.Run(ctx, l.RunID)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	fmt.Fprintln(a.stdout)
	if err := a.printList(render.Runs(runs), render.Table); err != nil {
		return err
	}
	graph, err := lineage.Load(ctx, p.tracker)
	if err != nil {
		return err
	}
	sub, err := p.closure(ctx, graph, string(outcome.Evaluated), lineage.Query{Up: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nWhere the evaluated model came from:\n\n")
	if err := render.Lineage(a.stdout, sub, render.Tree, a.style(a.stdout)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nTest accuracy %.4f\n", outcome.TestAccuracy)
	a.suggest(outcome)
	return nil
}

// suggest names a few commands to go on with, for the store that was used.
func (a *app) suggest(outcome demo.Outcome) {
	where := ""
	switch {
	case a.flags.store != "":
		where = " --store '" + store.RedactURL(a.flags.store) + "'"
	case a.flags.tracker != "":
		where = " --tracker '" + store.RedactURL(a.flags.tracker) + "'"
	}
	evaluated, prepared := outcome.Evaluated.Name(), outcome.Runs[0].RunID.Name()
	a.note("")
	a.note("Try next:")
	for _, line := range []string{
		"show " + evaluated + where,
		"lineage " + prepared + " --down" + where,
		"lineage " + evaluated + " --up -o dot" + where,
	} {
		a.note("  heirloom %s", line)
	}
}

// demoed is the demo's outcome in JSON; fields are only ever added.
type demoed struct {
	Runs         []demoedRun   `json:"runs"`
	Chosen       string        `json:"chosen"` // name of the training run that finetune went on from
	Evaluated    tracker.RunID `json:"evaluated"`
	TestAccuracy float64       `json:"test_accuracy"`
}

type demoedRun struct {
	ID    tracker.RunID `json:"id"`
	Name  string        `json:"name"`
	State tracker.State `json:"state"`
}

func newDemoed(o demo.Outcome) demoed {
	d := demoed{Chosen: o.Chosen, Evaluated: o.Evaluated, TestAccuracy: o.TestAccuracy}
	for _, l := range o.Runs {
		d.Runs = append(d.Runs, demoedRun{ID: l.RunID, Name: l.Name, State: l.State})
	}
	return d
}

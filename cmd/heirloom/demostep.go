package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/demo"
	"github.com/heirloom-ml/heirloom/tracker"
)

// newDemoStep is what the demo launches: one step, in a process of its own, which knows only its environment.
func newDemoStep(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "demo-step NAME [FLAG...]",
		Short:              "run one step of the demo",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               atLeastOne("NAME"),
		RunE:               func(c *cobra.Command, args []string) error { return a.runDemoStep(c, args) },
	}
}

func (a *app) runDemoStep(c *cobra.Command, args []string) (err error) {
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	run, err := tracker.FromEnviron(c.Context(), a.environ, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return demo.Step(c.Context(), demo.Env{
		Store: p.store, OutputDir: a.getenv("HEIRLOOM_OUTPUT_DIR"), CheckpointDir: a.getenv("HEIRLOOM_CHECKPOINT_DIR"),
		MetricsPath: a.getenv("HEIRLOOM_METRICS"), Stdout: a.stdout, Artifacts: run,
	}, args[0], args[1:])
}

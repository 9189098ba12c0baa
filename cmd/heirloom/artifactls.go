package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
)

func newArtifactLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls RUN",
		Short: "list what a run made",
		Example: `  heirloom artifact ls train-x7f2
  heirloom artifact ls train-x7f2 -o csv`,
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			format, found, err := a.listing(c.Context())
			if err != nil {
				return err
			}
			list, err := found.allOf(c.Context(), args[0])
			if err != nil {
				return err
			}
			if len(list) == 0 {
				a.note("run %s made nothing that was recorded", args[0])
			}
			rows := make([]render.Artifact, len(list))
			for i, m := range list {
				rows[i] = render.Artifact{Run: m.run, Artifact: m.Artifact}
			}
			return a.printList(render.Artifacts(rows), format)
		},
	}
}

package main

import (
	"github.com/spf13/cobra"
)

func newAddMetadata(a *app) *cobra.Command {
	var asText bool
	c := &cobra.Command{
		Use:   "metadata K=V...",
		Short: "set keys of the run's metadata",
		Long: `Set keys of the run's metadata. A later value replaces an earlier one.

K=V is JSON if it parses as such, else text; K:=V must be JSON; with --string
every value is text. By convention keys begin with params., metrics. or tags.`,
		Example: `  heirloom add metadata metrics.accuracy=0.97 tags.note="first try"
  heirloom add metadata 'params.layers:=[64, 10]' --run train-x7f2
  heirloom add metadata --string tags.build=007`,
		Args: atLeastOne("K=V"),
		RunE: func(c *cobra.Command, args []string) error {
			values, err := parsePairs(args, asText)
			if err != nil {
				return err
			}
			t, err := a.target(c)
			if err != nil {
				return err
			}
			if err := t.writer.AddMetadata(c.Context(), t.run, values); err != nil {
				return err
			}
			return a.added(c.Context(), t, "%s set", count(values.Len(), "key"))
		},
	}
	c.Flags().BoolVar(&asText, "string", false, "take every value as text")
	return c
}

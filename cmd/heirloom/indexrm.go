package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/store"
)

func newIndexRm(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rm",
		Short:   "delete the index; it is made again when it is needed",
		Example: `  heirloom index rm`,
		Args:    takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.here(c.Context())
			if err != nil {
				return err
			}
			if err := index.Remove(p.tracker, a.indexDir()); err != nil {
				return err
			}
			a.note("the index of %s is deleted", store.RedactURL(p.trackerURL()))
			return nil
		},
	}
}

package main

import "github.com/spf13/cobra"

func newStore(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:     "store",
		Short:   "work with the objects of a store",
		Example: "  heirloom store check s3://bucket/prefix",
	}, newStoreCheck(a))
}

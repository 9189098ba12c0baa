package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func newCatalogPrune(a *app) *cobra.Command {
	var f catalogPolicyFlags
	var yes bool
	c := &cobra.Command{
		Use:   "prune",
		Short: "delete versions of the catalog that newer ones replaced",
		Long: `Say which versions of the catalog may go, and with --yes delete them: those that a newer
one replaced for longer than --grace, but for the newest --keep, and what publishers
left that gave no sign of life for as long. catalog publish does the same after it has
published.`,
		Example: `  heirloom catalog prune
  heirloom catalog prune --yes --grace 1h`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.catalogPrune(c, f, yes) },
	}
	f.register(c.Flags())
	c.Flags().BoolVarP(&yes, "yes", "y", false, "delete; without it nothing is changed")
	return c
}

func (a *app) catalogPrune(c *cobra.Command, f catalogPolicyFlags, yes bool) error {
	policy, err := f.policy(c)
	if err != nil {
		return err
	}
	format, p, err := a.formatHere(c.Context(), render.ListFormats)
	if err != nil {
		return err
	}
	now := time.Now()
	if yes { // by the clock that dates the objects
		if now, err = dataset.StoreTime(c.Context(), p.store); err != nil {
			return err
		}
	}
	list, err := catalog.Prune(c.Context(), p.store, policy, now, !yes)
	if err != nil {
		return err
	}
	if !yes {
		a.note("nothing was changed; --yes deletes")
	}
	l := catalogRows(list)
	l.Also = []pyjson.Member{{Key: "dry_run", Value: !yes}}
	return a.printList(l, format)
}

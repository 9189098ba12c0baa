package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

func newCatalogPrune(a *app) *cobra.Command {
	var f catalogPolicyFlags
	var yes bool
	c := &cobra.Command{
		Use:   "prune",
		Short: "delete versions of the catalog that newer ones replaced, and old notes",
		Long: `Say which versions of the catalog may go, and with --yes delete them: those that a newer
one replaced for longer than --grace, but for the newest --keep, and what publishers
left that gave no sign of life for as long. Notes of the journal go too, by which
indexes learn what writers did, once they are older than 30 days: no index needs them
any more. catalog publish does the same after it has published.`,
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
	trimmed, err := p.tracker.TrimJournal(c.Context(), now, trimAtMost, !yes)
	if err != nil {
		return err
	}
	if !yes {
		a.note("nothing was changed; --yes deletes")
	}
	a.noteTrimmed(trimmed, !yes)
	l := catalogRows(list)
	l.Also = []pyjson.Member{{Key: "dry_run", Value: !yes}, {Key: "notes", Value: int64(trimmed.Entries)}}
	return a.printList(l, format)
}

// trimAtMost is how many notes of the journal one command deletes, so that the first after years does not take an hour.
const trimAtMost = 10_000

// noteTrimmed says how many notes of the journal went, or would go.
func (a *app) noteTrimmed(t tracker.Trimmed, dryRun bool) {
	if t.Entries == 0 {
		return
	}
	verb, more := "deleted", ""
	if dryRun {
		verb = "would delete"
	}
	if t.More {
		more = "; there are more, for the next call"
	}
	a.note("heirloom: %s %s of the journal older than 30 days%s", verb, count(t.Entries, "note"), more)
}

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/lineage/catalog"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/tracker"
)

// catalogPublishFlags are what catalog publish is asked for.
type catalogPublishFlags struct {
	fresh    freshness
	ancestry int
	keep     catalogPolicyFlags
	policy   catalog.Policy
}

func newCatalogPublish(a *app) *cobra.Command {
	var f catalogPublishFlags
	c := &cobra.Command{
		Use:   "publish",
		Short: "publish what is known now as the next version",
		Long: `Bring the index up to date and publish it as the next version of the catalog: Parquet
tables, then a manifest, and from that moment on the version is there, whole. If nothing
changed since the newest version, nothing is published. Several may publish at once:
each makes a version of its own. Versions that a newer one replaced stay for --grace,
for those who still read them, and go with a later call.

The table ancestry holds everything that anything came from. Its length can grow with
the square of the number of runs: beyond --ancestry-rows its depth is bounded, which
the manifest says.`,
		Example: `  heirloom catalog publish
  heirloom catalog publish -o json --grace 1h`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if f.policy, err = f.keep.policy(c); err != nil {
				return err
			}
			if f.ancestry < 1 {
				return usagef(c.CommandPath(), "--ancestry-rows wants 1 or more")
			}
			f.fresh.now = !f.fresh.never
			return a.catalogPublish(c, f)
		},
	}
	f.keep.register(c.Flags())
	c.Flags().IntVar(&f.ancestry, "ancestry-rows", catalog.DefaultAncestryRows, "`N` rows of the table ancestry, beyond which its depth is bounded")
	c.Flags().BoolVar(&f.fresh.never, "no-refresh", false, "publish the index as it is")
	return c
}

// publishedCatalog is what publish prints; fields are only ever added.
type publishedCatalog struct {
	Number        int64          `json:"number"`
	Published     bool           `json:"published"` // false: nothing changed since this version
	AsOf          time.Time      `json:"as_of"`
	Bytes         int64          `json:"bytes"`
	AncestryDepth *int           `json:"ancestry_depth"` // null: complete
	Tables        []catalogTable `json:"tables"`
	Reclaimed     []int64        `json:"reclaimed"`
	Notes         int            `json:"notes"` // of the journal that were deleted
}

func (a *app) catalogPublish(c *cobra.Command, f catalogPublishFlags) error {
	format, p, err := a.formatHere(c.Context(), documentFormats())
	if err != nil {
		return err
	}
	x, err := a.index(c.Context(), c, p, f.fresh)
	if err != nil {
		return err
	}
	defer x.Close()
	done, err := p.publishCatalog(c.Context(), x, f)
	if err != nil {
		return err
	}
	if done.Kept != nil {
		a.warn("the version is published, but older ones stay: %v", done.Kept)
	}
	notes := a.trimJournal(c.Context(), p, done)
	shown := p.publishedCatalog(done)
	shown.Notes = notes.Entries
	if format != render.Table {
		return a.printJSON(shown)
	}
	m := done.Manifest
	if done.Unchanged {
		fmt.Fprintf(a.stdout, "nothing changed since version %d\n", m.Number)
		return nil
	}
	fmt.Fprintf(a.stdout, "published version %d: %s, %s, %s in %d tables\n", m.Number,
		count(int(rowsOf(m, "runs")), "run"), count(int(rowsOf(m, "links")), "link"), render.Size(shown.Bytes), len(m.Tables))
	if m.AncestryDepth > 0 {
		a.warn("the table ancestry goes up to depth %d only: all of it would have more than %d rows (--ancestry-rows)", m.AncestryDepth, f.ancestry)
	}
	if n := len(done.Reclaimed); n > 0 {
		a.note("heirloom: deleted %s that newer ones had replaced", count(n, "version"))
	}
	a.noteTrimmed(notes, false)
	return nil
}

// trimJournal deletes old notes after something was published. That they stay is no failure.
func (a *app) trimJournal(ctx context.Context, p place, done *catalog.Published) tracker.Trimmed {
	if done.StoreTime.IsZero() {
		return tracker.Trimmed{}
	}
	trimmed, err := p.tracker.TrimJournal(ctx, done.StoreTime, trimAtMost, false)
	if err != nil {
		a.warn("the version is published, but old notes stay: %v", err)
	}
	return trimmed
}

// publishCatalog gathers what is published beside the index.
func (p place) publishCatalog(ctx context.Context, x *index.Index, f catalogPublishFlags) (*catalog.Published, error) {
	aliases, err := x.Aliases(ctx)
	if err != nil {
		return nil, err
	}
	items, err := dataset.Inventory(ctx, p.store)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // for people to read; "" if the machine has no name
	return catalog.Publish(ctx, p.store, catalog.Content{Index: x, Aliases: aliases, Datasets: items}, &catalog.Options{
		Writer: "heirloom " + readVersion().Version + " on " + host, AncestryRows: f.ancestry, Policy: f.policy,
	})
}

func (p place) publishedCatalog(done *catalog.Published) publishedCatalog {
	m := done.Manifest
	shown := publishedCatalog{Number: m.Number, Published: !done.Unchanged, AsOf: m.AsOf, Reclaimed: []int64{}}
	shown.Tables, shown.Bytes = p.catalogTables(m)
	if m.AncestryDepth > 0 {
		shown.AncestryDepth = &m.AncestryDepth
	}
	for _, r := range done.Reclaimed {
		shown.Reclaimed = append(shown.Reclaimed, r.Number)
	}
	return shown
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
)

func newDatasetLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls [NAME]",
		Short: "list datasets, who made them and who uses them",
		Long: `List the datasets of the store, or the versions of one name: rows, bytes, the run
that made each, and how many runs are on record to have used it. Those without a name
come last, by the beginning of their fingerprint.`,
		Example: `  heirloom dataset ls
  heirloom dataset ls clicks -o json`,
		Args:              atMostOne("NAME"),
		ValidArgsFunction: a.completeDatasetName,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetLs(c, args) },
	}
}

func (a *app) datasetLs(c *cobra.Command, args []string) error {
	format, p, err := a.formatHere(c.Context(), render.ListFormats)
	if err != nil {
		return err
	}
	items, err := dataset.Inventory(c.Context(), p.store)
	if err != nil {
		return err
	}
	use, err := p.datasetUse(c.Context())
	if err != nil {
		return err
	}
	var list []render.Dataset
	for _, item := range items {
		if name, ok := listed(item, args); ok {
			list = append(list, p.rendered(item, name, use))
		}
	}
	if len(list) == 0 {
		if len(args) > 0 {
			_, err := dataset.Versions(c.Context(), p.store, args[0])
			return notListed(err)
		}
		a.note("no datasets in %s", p.store.URL())
	}
	return render.Datasets(list).Write(a.stdout, format, a.style(a.stdout))
}

// listed says whether a dataset is asked for, and by which names.
func listed(item dataset.Item, args []string) (names []string, ok bool) {
	for _, ref := range item.Names {
		if len(args) == 0 || ref.Name == args[0] {
			names = append(names, ref.String())
		}
	}
	return names, len(args) == 0 || len(names) > 0
}

// rendered is a dataset as it is printed.
func (p place) rendered(item dataset.Item, names []string, use *datasetUse) render.Dataset {
	d := render.Dataset{
		Names: names, Fingerprint: string(item.Commit.Fingerprint), Rows: item.Rows(), Bytes: item.Bytes(),
		Created: item.Commit.Created, Adopted: item.Adopted(), Marked: item.Marked,
		Path: item.Commit.Splits[dataset.Train].Location(p.store),
	}
	if item.Commit.Maker != nil {
		d.MadeBy = string(item.Commit.Maker.Run)
	}
	for _, run := range use.of(p.store, item) {
		d.UsedBy = append(d.UsedBy, string(run))
	}
	return d
}

// datasetUse reads what the records say about the use of datasets: one listing of the tracker.
func (p place) datasetUse(ctx context.Context) (*datasetUse, error) {
	set, err := p.tracker.Edges(ctx)
	if err != nil {
		return nil, err
	}
	return newDatasetUse(set.Edges), nil
}

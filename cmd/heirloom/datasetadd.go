package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/tracker"
)

// addFlags are what add is asked for.
type addFlags struct {
	name, val, test string
	readData        bool
}

func newDatasetAdd(a *app) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add PATH --name NAME[@VERSION] [--val PATH] [--test PATH]",
		Short: "give a name to Parquet that lies elsewhere, without a copy",
		Long: `Record a directory of Parquet, flat or in Hive's partitions, in any store, under a
name. Only footers are read and nothing is copied or written there: the dataset is
known by the names, sizes and versions of its files, and one that was overwritten is
another. Delta and Iceberg tables are refused: only their log says which files count.
A directory that was staged in this store is given the name as it is.

PATH is the split train, the only one unless --val and --test name directories of their own,
with the same columns. With --read-data every byte is read: all pages are decoded, and the
dataset is known by the SHA-256 of its files, which dataset check --read-data compares.`,
		Example: `  heirloom dataset add s3://lake/clicks/2026-11-20 --name clicks@2026-11-20
  heirloom dataset add /data/digits/train --val /data/digits/val --name digits@1 --read-data
  heirloom dataset add hdfs:///warehouse/views --name views`,
		Args:              takes("PATH"),
		ValidArgsFunction: a.completeSpot,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetAdd(c, args[0], f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.name, "name", "", "`NAME[@VERSION]`; without a version the next number")
	flags.StringVar(&f.val, "val", "", "`PATH` of the rows for validation")
	flags.StringVar(&f.test, "test", "", "`PATH` of the rows for the test")
	flags.BoolVar(&f.readData, "read-data", false, "read every byte, and know the files by it")
	register(c, "val", a.completeSpots)
	register(c, "test", a.completeSpots)
	return c
}

func (a *app) datasetAdd(c *cobra.Command, path string, f addFlags) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	if f.name == "" {
		return usagef(c.CommandPath(), "missing --name NAME[@VERSION]")
	}
	ref, err := dataset.ParseRef(f.name)
	if err != nil {
		return err
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	places, err := a.places(c.Context(), found, map[dataset.Name]string{dataset.Train: path, dataset.Val: f.val, dataset.Test: f.test})
	if err != nil {
		return err
	}
	d, hit, err := dataset.Adopt(c.Context(), found.store, places, &dataset.AdoptOptions{ReadData: f.readData})
	if err != nil {
		return err
	}
	if ref, err = dataset.SetLabel(c.Context(), found.store, ref, d.Commit.Fingerprint); err != nil {
		return err
	}
	if err := a.inRun(c.Context(), func(run *tracker.AppRun) error {
		if run == nil {
			return nil
		}
		return d.RecordUse(c.Context(), found.store, run, ref)
	}); err != nil {
		return err
	}
	out := newStaged(found.store, d, hit, ref)
	if format != render.Table {
		return render.Document(a.stdout, out, format)
	}
	a.note("heirloom: %s is %.12s", ref, d.Commit.Fingerprint)
	return out.list().Write(a.stdout, format, a.style(a.stdout))
}

// places are where the splits lie of which the path is not empty.
func (a *app) places(ctx context.Context, found *spots, paths map[dataset.Name]string) (map[dataset.Name]dataset.Place, error) {
	places := make(map[dataset.Name]dataset.Place)
	for name, path := range paths {
		if path == "" && name != dataset.Train {
			continue
		}
		at, err := a.inputSpot(ctx, found, strings.TrimRight(path, "/"))
		if err != nil {
			return nil, err
		}
		places[name] = dataset.Place{Store: at.store, Dir: at.key}
	}
	return places, nil
}

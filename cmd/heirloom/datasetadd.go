package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newDatasetAdd(a *app) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "add PATH --name NAME[@VERSION]",
		Short: "give a name to Parquet that lies elsewhere, without a copy",
		Long: `Record a directory of Parquet, flat or in Hive's partitions, in any store, under a
name. Only footers are read and nothing is copied or written there: the dataset is
known by the names, sizes and versions of its files, and one that was overwritten is
another. Delta and Iceberg tables are refused: only their log says which files count.
A directory that was staged in this store is given the name as it is.`,
		Example: `  heirloom dataset add s3://lake/clicks/2026-11-20 --name clicks@2026-11-20
  heirloom dataset add hdfs:///warehouse/views --name views`,
		Args:              takes("PATH"),
		ValidArgsFunction: a.completeSpot,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetAdd(c, args[0], name) },
	}
	c.Flags().StringVar(&name, "name", "", "`NAME[@VERSION]`; without a version the next number")
	return c
}

func (a *app) datasetAdd(c *cobra.Command, path, name string) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	if name == "" {
		return usagef(c.CommandPath(), "missing --name NAME[@VERSION]")
	}
	ref, err := dataset.ParseRef(name)
	if err != nil {
		return err
	}
	found, err := a.spots(c.Context())
	if err != nil {
		return err
	}
	at, err := a.inputSpot(c.Context(), found, strings.TrimRight(path, "/"))
	if err != nil {
		return err
	}
	d, hit, err := dataset.Adopt(c.Context(), found.store, at.store, at.key)
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

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
)

func newDatasetShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show DATASET",
		Short: "show columns, splits, rows and bytes",
		Long: `Show a dataset: its splits, rows, bytes and files, where it comes from, and each column
with its type and what the footers say of its values. DATASET is a name, the beginning
of a fingerprint, or the path or URL of any Parquet file or directory. No data are read.`,
		Example: `  heirloom dataset show clicks@latest
  heirloom dataset show /data/clicks.parquet -o json`,
		Args:              takes("DATASET"),
		ValidArgsFunction: a.completeDataset,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetShow(c, args[0]) },
	}
}

func (a *app) datasetShow(c *cobra.Command, text string) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	splits, err := a.datasetSplits(c.Context(), text)
	if err != nil {
		return err
	}
	var shown render.DatasetShown
	for _, s := range splits {
		one, err := s.describe(c.Context())
		if err != nil {
			return err
		}
		shown.Splits = append(shown.Splits, one)
	}
	if first := splits[0]; first.commit != nil {
		shown.Fingerprint, shown.Created = string(first.commit.Fingerprint), first.commit.Created
		if first.label.Name != "" {
			shown.Name = first.label.String()
		}
	}
	return render.ShowDataset(a.stdout, &shown, format, a.style(a.stdout))
}

func (s datasetSplit) describe(ctx context.Context) (render.DatasetSplit, error) {
	r, err := dataset.Open(ctx, s.spot.store, s.spot.key)
	if err != nil {
		return render.DatasetSplit{}, err
	}
	stats, err := r.Statistics(ctx)
	if err != nil {
		return render.DatasetSplit{}, err
	}
	one := render.DatasetSplit{Name: string(s.name), URL: s.spot.url(), Rows: r.Rows(), Columns: r.Fields(), Statistics: stats, Manifest: r.Manifest(), Notes: r.Notes()}
	for _, file := range r.Files() {
		one.Files++
		one.Bytes += file.Bytes
	}
	return one, nil
}

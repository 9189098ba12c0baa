package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newDatasetPath(a *app) *cobra.Command {
	var engine string
	c := &cobra.Command{
		Use:   "path NAME [SPLIT]",
		Short: "print where a dataset lies, as an engine wants to hear it",
		Long: `Print the address of a split, train if none is given. --for says it as an engine
writes it: Spark s3a://, gs://, hdfs://, dbfs:/ and file://; fsspec s3:// and paths of
files; DuckDB those, and a pattern that finds the files of a partitioned dataset too.

Inside a run it is recorded that the run uses the dataset.`,
		Example: `  heirloom dataset path clicks@latest --for spark
  heirloom dataset path clicks@2026-11-20 val`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return takes("NAME")(c, args)
		},
		ValidArgsFunction: a.completeDatasetSplit,
		RunE: func(c *cobra.Command, args []string) error {
			split := dataset.Train
			if len(args) == 2 {
				split = dataset.Name(args[1])
			}
			if engine != "" && !slices.Contains(engines(), engine) {
				return usagef(c.CommandPath(), "--for %q is none of %s", engine, strings.Join(engines(), ", "))
			}
			return a.datasetPath(c, args[0], split, engine)
		},
	}
	c.Flags().StringVar(&engine, "for", "", "`ENGINE` spark, fsspec or duckdb")
	register(c, "for", fixed(engines()))
	return c
}

// datasetAddress is where a split lies, as path prints it; fields are only ever added.
type datasetAddress struct {
	Name        *string      `json:"name"` // NAME@VERSION; null = it was found by its fingerprint
	Fingerprint store.Digest `json:"fingerprint"`
	Split       dataset.Name `json:"split"`
	Path        string       `json:"path"`
}

func (a *app) datasetPath(c *cobra.Command, text string, name dataset.Name, engine string) error {
	format, p, err := a.formatHere(c.Context(), documentFormats())
	if err != nil {
		return err
	}
	d, label, err := dataset.Lookup(c.Context(), p.store, text)
	if err != nil {
		return notListed(err)
	}
	split, ok := d.Commit.Splits[name]
	if !ok {
		return &kindError{text: fmt.Sprintf("dataset %s has no split %q", text, name), kind: store.ErrNotExist}
	}
	address, err := dialect(split.Location(p.store), engine)
	if err != nil {
		return err
	}
	if engine == "duckdb" {
		address += "/**/*.parquet"
	}
	if err := a.inRun(c.Context(), func(run *tracker.AppRun) error {
		if run == nil {
			return nil
		}
		return d.RecordUse(c.Context(), p.store, run, label.Ref())
	}); err != nil {
		return err
	}
	if format == render.Table {
		fmt.Fprintln(a.stdout, render.Sanitize(address))
		return nil
	}
	return a.printJSON(datasetAddress{Name: refText(label.Ref()), Fingerprint: d.Commit.Fingerprint, Split: name, Path: address})
}

// refText is a name in JSON; none is null.
func refText(ref dataset.Ref) *string {
	if ref.Name == "" {
		return nil
	}
	text := ref.String()
	return &text
}

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/tracker"
)

// headFlags are what head is asked for.
type headFlags struct {
	rows    int64
	split   string
	where   string
	columns []string
}

func newDatasetHead(a *app) *cobra.Command {
	var f headFlags
	c := &cobra.Command{
		Use:   "head DATASET",
		Short: "print the first rows",
		Long: `Print the first rows of a dataset: its name, the beginning of its fingerprint, or the
path or URL of any Parquet file or directory. --where keeps the rows for which a
condition is true, and reads only those parts of the files that may hold such rows:
= != <> < <= > >=, in (…), is null, and, or, not, parentheses; text, dates and times
stand in single quotes.

Inside a run it is recorded that the run uses the dataset.`,
		Example: `  heirloom dataset head clicks@latest
  heirloom dataset head s3://lake/clicks -n 3 --columns user,country -o json
  heirloom dataset head clicks --where "age > 3 and country = 'DE'"`,
		Args:              takes("DATASET"),
		ValidArgsFunction: a.completeDataset,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetHead(c, args[0], f) },
	}
	flags := c.Flags()
	flags.Int64VarP(&f.rows, "rows", "n", 10, "at most `N` rows")
	flags.StringVar(&f.split, "split", "", "`NAME` of the split; the first one if not given")
	flags.StringVar(&f.where, "where", "", "only rows for which `CONDITION` is true")
	flags.StringSliceVar(&f.columns, "columns", nil, "`NAMES` of the columns, in the order wanted")
	register(c, "split", fixed(splitNames()))
	return c
}

// openUsed opens what the run that this process is part of, if any, is then on record to use.
func (a *app) openUsed(ctx context.Context, s datasetSplit) (r *dataset.Reader, err error) {
	err = a.inRun(ctx, func(run *tracker.AppRun) error {
		if run == nil || s.commit != nil {
			if r, err = dataset.Open(ctx, s.spot.store, s.spot.key); err != nil || run == nil {
				return err
			}
			return (&dataset.Dataset{Commit: *s.commit}).RecordUse(ctx, s.home, run, s.label)
		}
		r, err = dataset.Opener{Run: run}.Open(ctx, s.spot.store, s.spot.key)
		return err
	})
	return r, err
}

func (a *app) datasetHead(c *cobra.Command, text string, f headFlags) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if f.rows < 0 {
		return usagef(c.CommandPath(), "--rows is %d, want 0 or more", f.rows)
	}
	opts := &dataset.ReadOptions{Columns: f.columns}
	if f.where != "" {
		if opts.Where, err = dataset.ParsePredicate(f.where); err != nil {
			return err
		}
	}
	s, err := a.oneSplit(c.Context(), text, f.split)
	if err != nil {
		return err
	}
	r, err := a.openUsed(c.Context(), s)
	if err != nil {
		return err
	}
	columns, rows, err := r.Head(c.Context(), f.rows, opts)
	if err != nil {
		return err
	}
	list, err := render.Rows(columns, rows)
	if err != nil {
		return err
	}
	return list.Write(a.stdout, format, a.style(a.stdout))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// checkFlags are what check is asked for.
type checkFlags struct {
	readData bool
	like     string
}

func newDatasetCheck(a *app) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check DATASET",
		Short: "look whether a dataset is whole",
		Long: `Hold a dataset against its manifest and against itself: missing, added and truncated
files, a commit that is missing, jobs that run or died, files of other columns, stale
checksum files of Hadoop; and of a version its columns against those of the version
before, or against --like (itself, where they are meant to differ). DATASET is a name, the beginning of a fingerprint, or the path
or URL of any Parquet file or directory. Footers alone are read, or with --read-data
every byte: all pages are decoded, and all checksums compared. What was added where it
lies is held against what dataset add found there: its names, sizes and versions, or with
--read-data there and here its bytes.

Exit codes: 0 nothing is wrong; 6 something is; 3 there is no dataset; 7 a file could
not be read.`,
		Example: `  heirloom dataset check clicks@latest --read-data
  heirloom dataset check s3://lake/clicks/day=2026-11-20 -o json
  heirloom dataset check clicks@2026-11-20 --like clicks@2026-11-19`,
		Args:              takes("DATASET"),
		ValidArgsFunction: a.completeDataset,
		RunE:              func(c *cobra.Command, args []string) error { return a.datasetCheck(c, args[0], f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.readData, "read-data", false, "read every byte, not the footers alone")
	flags.StringVar(&f.like, "like", "", "`DATASET` whose columns this one should have (default: the version before)")
	register(c, "like", func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return a.completeDataset(c, nil, typed)
	})
	return c
}

func (a *app) datasetCheck(c *cobra.Command, text string, f checkFlags) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	opts := dataset.CheckOptions{ReadData: f.readData}
	splits, err := a.datasetSplits(c.Context(), text)
	if err != nil {
		return err
	}
	if f.like == "" {
		if f.like, err = splits[0].before(c.Context()); err != nil {
			return err
		}
	}
	if f.like != "" {
		s, err := a.oneSplit(c.Context(), f.like, "")
		if err != nil {
			return err
		}
		if opts.Like, err = dataset.Open(c.Context(), s.spot.store, s.spot.key); err != nil {
			return err
		}
	}
	var list []render.DatasetCheck
	for _, s := range splits {
		opts.Manifest, opts.Adopted = s.manifest, nil
		if s.adopted {
			if opts.Adopted, err = (&dataset.Dataset{Commit: *s.commit}).Manifest(c.Context(), s.home, s.name); err != nil {
				return err
			}
		}
		report, err := dataset.Check(c.Context(), s.spot.store, s.spot.key, &opts)
		if err != nil {
			return err
		}
		list = append(list, render.DatasetCheck{Split: string(s.name), URL: s.spot.url(), Path: s.spot.path, Report: report})
	}
	if err := render.DatasetChecks(list).Write(a.stdout, format, a.style(a.stdout)); err != nil {
		return err
	}
	return a.judgeDataset(text, list)
}

// before is the version of the same name before this one that is still there, "" if there is none.
func (s datasetSplit) before(ctx context.Context) (string, error) {
	if s.label.Name == "" {
		return "", nil
	}
	versions, err := dataset.Versions(ctx, s.home, s.label.Name)
	if err != nil {
		return "", err
	}
	for _, version := range slices.Backward(versions[:max(0, slices.Index(versions, s.label.Version))]) {
		ref := dataset.Ref{Name: s.label.Name, Version: version}
		switch _, _, err := dataset.Lookup(ctx, s.home, ref.String()); {
		case err == nil:
			return ref.String(), nil
		case !errors.Is(err, store.ErrNotExist) && !errors.Is(err, store.ErrCorrupt):
			return "", err
		}
	}
	return "", nil
}

// judgeDataset sums up a check.
func (a *app) judgeDataset(text string, list []render.DatasetCheck) error {
	files, findings := 0, 0
	rows := int64(0)
	kind := error(nil)
	for _, one := range list {
		files, rows, findings = files+one.Report.Files, rows+one.Report.Rows, findings+len(one.Report.Findings)
		for _, f := range one.Report.Findings {
			kind = worse(kind, f.Rule)
		}
	}
	looked := fmt.Sprintf("looked at %s, %d rows", count(files, "file"), rows)
	if findings == 0 {
		a.note("%s: nothing is wrong", looked)
		return nil
	}
	a.note("%s", looked)
	return &store.Error{Op: "check dataset", Key: text, Kind: kind, Err: errors.New(count(findings, "finding"))}
}

// worse is the kind that the exit code tells: what is corrupt before what could not be looked at, before absence.
func worse(kind error, rule dataset.CheckRule) error {
	switch {
	case rule == dataset.RuleAbsent && kind == nil:
		return store.ErrNotExist
	case rule == dataset.RuleUnreachable && (kind == nil || errors.Is(kind, store.ErrNotExist)):
		return store.ErrUnavailable
	case rule == dataset.RuleAbsent, rule == dataset.RuleUnreachable:
		return kind
	}
	return store.ErrCorrupt
}

package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

func newIndexStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "tell where the index is and what it knows",
		Long: `Tell where the index of the store's runs is, how large and how old it is, and what it
knows. Nothing is asked of the store.`,
		Example: `  heirloom index status
  heirloom index status -o json`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.indexStatus(c) },
	}
}

func (a *app) indexStatus(c *cobra.Command) error {
	format, p, err := a.formatHere(c.Context(), documentFormats())
	if err != nil {
		return err
	}
	status := render.IndexStatus{Root: p.trackerURL(), File: index.File(p.tracker, a.indexDir())}
	if index.Exists(p.tracker, a.indexDir()) {
		if err := a.fillStatus(c.Context(), p, &status); err != nil {
			return err
		}
	}
	return render.Index(a.stdout, status, format, a.style(a.stdout))
}

// fillStatus asks an index what it knows.
func (a *app) fillStatus(ctx context.Context, p place, status *render.IndexStatus) error {
	x, err := index.Open(ctx, p.tracker, index.Options{Dir: a.indexDir()})
	if err != nil {
		return err
	}
	defer x.Close()
	known, err := x.Completeness(ctx)
	if err != nil {
		return err
	}
	if status.Listed, err = x.Listed(ctx); err != nil {
		return err
	}
	status.AsOf, status.Runs, status.Unreadable, status.NoInputs = known.AsOf, known.Runs, known.Unreadable, known.NoInputs
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(x.File() + suffix); err == nil {
			status.Size += render.Size(info.Size())
		}
	}
	return nil
}

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

func newIndexRefresh(a *app) *cobra.Command {
	quick := false
	c := &cobra.Command{
		Use:   "refresh",
		Short: "bring the index up to date",
		Long: `Bring the index up to date: the whole root is listed, and the runs that changed are
read. With --quick as other commands do: by the notes that heirloom's writers leave, and
a listing only where one is due.`,
		Example: `  heirloom index refresh
  heirloom index refresh --quick -o json`,
		Args: takes(""),
		RunE: func(c *cobra.Command, _ []string) error { return a.indexRefresh(c, quick) },
	}
	c.Flags().BoolVar(&quick, "quick", false, "list the whole root only where that is due")
	return c
}

func (a *app) indexRefresh(c *cobra.Command, quick bool) error {
	format, p, err := a.formatHere(c.Context(), documentFormats())
	if err != nil {
		return err
	}
	x, err := index.Open(c.Context(), p.tracker, index.Options{Dir: a.indexDir(), Progress: a.indexProgress()})
	if err != nil {
		return err
	}
	defer x.Close()
	refresh := x.Refresh
	if quick {
		refresh = x.CatchUp
	}
	done, err := refresh(c.Context())
	if err != nil {
		return err
	}
	return render.Refreshed(a.stdout, render.IndexRefreshed{
		Root: p.trackerURL(), Whole: done.Whole, Listed: done.Listed, Read: done.Read, Removed: done.Removed,
		Unreadable: done.Warnings, Seconds: done.Ended.Sub(done.Began).Seconds(),
	}, format, a.style(a.stdout))
}

// progressPause is how much time passes between two lines of progress.
const progressPause = 2 * time.Second

// indexProgress tells on stderr, now and then, how far a refresh that takes long has come; nil with --quiet.
func (a *app) indexProgress() func(listed, read int) {
	if a.flags.quiet || a.flags.progress == "none" {
		return nil
	}
	next := time.Now().Add(progressPause)
	return func(listed, read int) {
		if now := time.Now(); now.After(next) {
			next = now.Add(progressPause)
			a.note("%s", fmt.Sprintf("index: %s found, %s read", count(listed, "run"), count(read, "run")))
		}
	}
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
)

func newCheckpointLs(a *app) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "ls [RUN|PATH|URL]",
		Short: "list the checkpoints that are whole",
		Long: `List the checkpoints of a run, of all runs, or at any path or URL, by their steps.
With --all also those that are not whole, and why. In a run a single file counts where
it lies below checkpoints/ or is named for a step; at a path every model file does.`,
		Example: `  heirloom checkpoint ls train-x7f2
  heirloom checkpoint ls s3://bucket/models --all
  heirloom checkpoint ls -o csv`,
		Args:              atMostOne("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			text := ""
			if len(args) > 0 {
				text = args[0]
			}
			return a.checkpointLs(c, text, all)
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "also those that are not whole, with the reason")
	return c
}

func (a *app) checkpointLs(c *cobra.Command, text string, all bool) error {
	format, places, err := a.listing(c.Context())
	if err != nil {
		return err
	}
	found, err := a.checkpoints(c.Context(), places, text)
	if err != nil {
		return err
	}
	pinned, err := places.notes().Pinned(c.Context())
	if err != nil {
		return err
	}
	var list []render.Checkpoint
	hidden := 0
	for _, s := range found {
		if !s.Complete() && !all {
			hidden++
			continue
		}
		list = append(list, s.rendered(s.store == places.store && pinned[s.Path]))
	}
	a.noteHidden(len(list), hidden, text, places.place)
	return a.printList(render.Checkpoints(list), format)
}

func (a *app) noteHidden(shown, hidden int, text string, p place) {
	if text == "" {
		text = p.store.KeyURL("")
	}
	if shown == 0 && hidden == 0 {
		a.note("no checkpoints in %s", store.RedactURL(text))
	}
	if hidden > 0 {
		a.note("%s left out as not whole; --all shows why", count(hidden, "checkpoint"))
	}
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/tracker"
)

func newAddSource(a *app) *cobra.Command {
	var artifact string
	c := &cobra.Command{
		Use:   "source RUN[#ARTIFACT]",
		Short: "say which run, or which artifact of it, this run used",
		Example: `  heirloom add source train-x7f2
  heirloom add source train-x7f2#model
  heirloom add source local://torchx/train-x7f2 --artifact model --run evaluate-b2`,
		Args: takes("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := a.target(c)
			if err != nil {
				return err
			}
			source, err := t.source(c.Context(), args[0])
			if err != nil {
				return err
			}
			if artifact != "" {
				source.Artifact = artifact
			}
			if err := t.tracker.AddSource(c.Context(), t.run, source); err != nil {
				return err
			}
			return a.added(t, "used %s", sourceLabel(source))
		},
		ValidArgsFunction: a.completeRuns,
	}
	c.Flags().StringVar(&artifact, "artifact", "", "`NAME` of the artifact that was used")
	return c
}

// source reads RUN or RUN#ARTIFACT. Run ids may hold "#" themselves, so the whole is tried as a run first.
func (p place) source(ctx context.Context, text string) (tracker.Source, error) {
	cut := strings.LastIndexByte(text, '#')
	if cut < 0 {
		id, err := p.writable(ctx, text)
		return tracker.Source{ID: id}, err
	}
	if id, err := p.tracker.Find(ctx, text); err == nil {
		return tracker.Source{ID: id}, nil
	}
	id, err := p.writable(ctx, text[:cut])
	return tracker.Source{ID: id, Artifact: text[cut+1:]}, err
}

// sourceLabel reads "RUN" or "RUN#ARTIFACT".
func sourceLabel(s tracker.Source) string {
	if s.Artifact == "" {
		return string(s.ID)
	}
	return string(s.ID) + "#" + s.Artifact
}

package main

import (
	"context"
	"fmt"
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
			if err := t.writer.AddSource(c.Context(), t.run, source); err != nil {
				return err
			}
			if warning := t.unmade(c.Context(), source); warning != "" {
				a.warn("%s", warning)
			}
			return a.added(c.Context(), t, "used %s", sourceLabel(source))
		},
		ValidArgsFunction: a.completeRuns,
	}
	c.Flags().StringVar(&artifact, "artifact", "", "`NAME` of the artifact that was used")
	return c
}

// source reads RUN or RUN#ARTIFACT. Run ids may hold "#" themselves, so the whole is tried as a run first.
// An alias may mean either.
func (p place) source(ctx context.Context, text string) (tracker.Source, error) {
	text, err := p.expand(ctx, text)
	if err != nil {
		return tracker.Source{}, err
	}
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

// unmade says that a source has no such artifact, and which it has; "" if it has it. It is recorded all the same, since
// the source may be at work still. One that has made nothing is passed over, and so are errors: it is only a warning.
func (p place) unmade(ctx context.Context, s tracker.Source) string {
	if s.Artifact == "" {
		return ""
	}
	made, err := p.tracker.Artifacts(ctx, s.ID)
	if err != nil || len(made) == 0 {
		return ""
	}
	var names []string
	for _, artifact := range made {
		if artifact.Name == s.Artifact {
			return ""
		}
		names = append(names, artifact.Name)
	}
	more := ""
	if len(names) > maxNamed {
		names, more = names[:maxNamed], ", …"
	}
	return fmt.Sprintf("%s has no artifact %q; it has %s%s", s.ID, s.Artifact, strings.Join(names, ", "), more)
}

// maxNamed is how many artifacts a warning names.
const maxNamed = 8

// sourceLabel reads "RUN" or "RUN#ARTIFACT".
func sourceLabel(s tracker.Source) string {
	if s.Artifact == "" {
		return string(s.ID)
	}
	return string(s.ID) + "#" + s.Artifact
}

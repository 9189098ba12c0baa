package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

// impactAsked is what impact was asked for.
type impactAsked struct {
	query         lineage.Query
	fresh         freshness
	where, failOn string
}

func newImpact(a *app) *cobra.Command {
	asked := impactAsked{query: lineage.Query{Down: true}}
	c := &cobra.Command{
		Use:   "impact NODE",
		Short: "what a change of it would touch",
		Long: `List every run that descends from NODE, however far, the nearest first: what a bad
dataset spoiled, what must be trained anew. NODE is as for lineage.

With --where only the runs that satisfy a filter are listed. With --fail-on the
command ends with exit code 8 if one of those satisfies that filter, so that a
pipeline can stop; -o markdown is a summary for its page. Filters are those of runs.`,
		Example: `  heirloom impact clicks@2026-11-20
  heirloom impact prepare-x7f2#table --where "artifacts.kind = 'model'"
  heirloom impact clicks@2026-11-20 --fail-on "tags.stage = 'production'" -o markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args:              takes("NODE"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(c *cobra.Command, args []string) error { return a.runImpact(c, args[0], asked) },
	}
	flags := c.Flags()
	flags.StringVar(&asked.where, "where", "", "only runs that satisfy the filter `EXPR`")
	flags.StringVar(&asked.failOn, "fail-on", "", "end with exit code 8 if a listed run satisfies the filter `EXPR`")
	flags.IntVar(&asked.query.Depth, "depth", 0, "at most `N` steps away; 0 = all")
	flags.StringVar(&asked.query.Artifact, "artifact", "", "follow only uses of artifacts of the name `NAME`")
	asked.fresh.register(c)
	return c
}

func (a *app) runImpact(c *cobra.Command, text string, asked impactAsked) error {
	format, err := a.format(render.ImpactFormats)
	if err != nil {
		return err
	}
	if asked.query.Depth < 0 {
		return usagef(c.CommandPath(), "--depth is %d, want 0 or more", asked.query.Depth)
	}
	where, gate, err := asked.filters(c)
	if err != nil {
		return err
	}
	p, err := a.here(c.Context())
	if err != nil {
		return err
	}
	out := render.Impact{Where: asked.where, FailOn: asked.failOn}
	var sub *lineage.Subgraph
	err = a.ask(c.Context(), c, p, asked.fresh, func(x *index.Index) error {
		if sub, err = a.relations(c.Context(), p, x, text, asked.query, asked.fresh, false); err != nil {
			return err
		}
		aliases, err := x.Aliases(c.Context())
		if err != nil {
			return err
		}
		out.Impact = sub.Impact(resolveAliases(where, aliases), resolveAliases(gate, aliases))
		out.Completeness, err = a.completeness(c.Context(), x)
		return err
	})
	if err != nil {
		return err
	}
	for _, w := range sub.Warnings {
		a.warn("%s", w)
	}
	if err := out.Write(a.stdout, format, a.style(a.stdout)); err != nil {
		return err
	}
	if format != render.Markdown {
		a.noteCompleteness(out.Completeness)
	}
	return gateOf(out)
}

// filters parses what the runs must satisfy; an empty text is nil, unless it was given.
func (i impactAsked) filters(c *cobra.Command) (where, gate filter.Expr, err error) {
	now := time.Now()
	if c.Flags().Changed("where") {
		if where, err = filter.Parse(i.where, now); err != nil {
			return nil, nil, fmt.Errorf("--where: %w", err)
		}
	}
	if c.Flags().Changed("fail-on") {
		if gate, err = filter.Parse(i.failOn, now); err != nil {
			return nil, nil, fmt.Errorf("--fail-on: %w", err)
		}
	}
	return where, gate, nil
}

// gateOf is the error that a gate which matched ends the command with.
func gateOf(i render.Impact) error {
	if i.Matched == 0 {
		return nil
	}
	return &kindError{text: fmt.Sprintf("the gate matched: %s holds of %d of %s", i.FailOn, i.Matched, count(len(i.Affected), "run")), kind: errGate}
}

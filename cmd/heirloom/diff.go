package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/lineage/index"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newDiff(a *app) *cobra.Command {
	var f freshness
	exitCode := false
	c := &cobra.Command{
		Use:   "diff RUN RUN",
		Short: "how two runs differ, and where their ancestries part",
		Long: `Compare two runs: params, metrics, tags and other metadata; artifacts by their SHA-256;
code (command, git, workspaces); environment; inputs. The last section names the
first ancestors that differ: those above which both runs have the same, so that
all that differs below may come of them.

Of an artifact, RUN#ARTIFACT, the run that made it is compared. The exit code is 0
whether they differ or not, unless --exit-code is given, as with git.`,
		Example: `  heirloom diff train-x7f2 train-b9k1
  heirloom diff @prod @candidate -o json
  heirloom diff train-x7f2 train-b9k1 --exit-code -q > /dev/null || echo they differ`,
		Args: takes("RUN RUN"),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return a.completeRuns(c, args[min(len(args), 1):], typed)
		},
		RunE: func(c *cobra.Command, args []string) error { return a.runDiff(c, args[0], args[1], f, exitCode) },
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "end with exit code 1 if the runs differ")
	f.register(c)
	return c
}

func (a *app) runDiff(c *cobra.Command, textA, textB string, f freshness, exitCode bool) error {
	format, p, err := a.formatHere(c.Context(), render.DiffFormats)
	if err != nil {
		return err
	}
	var out render.Diff
	var complete *render.Completeness
	err = a.ask(c.Context(), c, p, f, func(x *index.Index) error {
		if out, err = a.difference(c.Context(), p, x, textA, textB, f); err == nil {
			complete, err = a.completeness(c.Context(), x)
		}
		return err
	})
	if err != nil {
		return err
	}
	out.Completeness = complete
	a.warnOfRuns([]*tracker.Run{out.RunA, out.RunB})
	if out.Empty() {
		a.note("the runs do not differ")
	}
	if err := out.Write(a.stdout, format, a.style(a.stdout)); err != nil {
		return err
	}
	a.noteCompleteness(complete)
	if exitCode && !out.Empty() {
		return jobExit{exitOther} // git's code for it, and nothing more to say
	}
	return nil
}

// difference compares two runs and their ancestries.
func (a *app) difference(ctx context.Context, p place, x *index.Index, textA, textB string, f freshness) (render.Diff, error) {
	var runs [2]*tracker.Run
	var ancestors [2]*lineage.Subgraph
	for i, text := range []string{textA, textB} {
		id, err := a.resolveRun(ctx, p, x, text, f)
		if err != nil {
			return render.Diff{}, err
		}
		if runs[i], err = x.Run(ctx, id); err != nil {
			return render.Diff{}, err
		}
		if _, ancestors[i], err = p.around(ctx, x, named{id: string(id)}, lineage.Query{Up: true}); err != nil {
			return render.Diff{}, err
		}
	}
	d := lineage.DiffRuns(runs[0], runs[1])
	d.Ancestors = lineage.Diverging(ancestors[0], ancestors[1])
	out := render.Diff{Diff: d, RunA: runs[0], RunB: runs[1], Labels: map[string]string{}}
	for _, sub := range ancestors {
		for _, n := range sub.Nodes {
			out.Labels[n.ID] = n.Label()
		}
	}
	return out, nil
}

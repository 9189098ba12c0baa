package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// aliasChange is what set and rm take beside names.
type aliasChange struct {
	current string
	guarded bool // current was given
	reason  string
}

func (f *aliasChange) register(c *cobra.Command) {
	c.Flags().StringVar(&f.current, "if-current", "", `only if it means this `+"`NODE`"+` now, "" for nothing; else exit code 4`)
	c.Flags().StringVar(&f.reason, "reason", "", "`TEXT` for the history")
}

func newAliasSet(a *app) *cobra.Command {
	var f aliasChange
	c := &cobra.Command{
		Use:   "set NAME NODE",
		Short: "let a name mean a run or artifact",
		Long: `Let NAME mean a run, or an artifact of one as RUN#ARTIFACT, from now on. A name is letters,
digits, underscores, dots and dashes. With --if-current it is changed only if it still
means what was expected: of several who try at once, one succeeds.`,
		Example: `  heirloom alias set best train-x7f2
  heirloom alias set prod train-k2#model.bin --if-current @prod
  heirloom alias set prod train-k2 --if-current ""`,
		Args: takes("NAME NODE"),
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return a.completeArtifacts(c, nil, typed)
			}
			return a.completeAliases(c, args, typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.guarded = c.Flag("if-current").Changed
			return a.aliasSet(c.Context(), args[0], args[1], f)
		},
	}
	f.register(c)
	register(c, "if-current", a.completeRun)
	return c
}

func newAliasRm(a *app) *cobra.Command {
	var f aliasChange
	c := &cobra.Command{
		Use:               "rm NAME",
		Short:             "let a name mean nothing",
		Long:              `Let NAME mean nothing any more. Its history stays, and it can be set again.`,
		Example:           `  heirloom alias rm prod --reason "withdrawn: wrong labels"`,
		Args:              takes("NAME"),
		ValidArgsFunction: a.completeAliases,
		RunE: func(c *cobra.Command, args []string) error {
			f.guarded = c.Flag("if-current").Changed
			return a.aliasSet(c.Context(), args[0], "", f)
		},
	}
	f.register(c)
	register(c, "if-current", a.completeRun)
	return c
}

// aliasSet gives a name another meaning, none for "".
func (a *app) aliasSet(ctx context.Context, name, text string, f aliasChange) error {
	format, err := a.format(render.ListFormats)
	if err != nil {
		return err
	}
	if err := alias.CheckName(name); err != nil { // before anything is looked up
		return err
	}
	p, err := a.here(ctx)
	if err != nil {
		return err
	}
	change := alias.Change{User: runner.UserName(a.environ), Reason: f.reason}
	if text != "" {
		if change.Run, change.Artifact, err = p.artifactOf(ctx, text); err != nil {
			return err
		}
	}
	if f.guarded {
		if change.IfCurrent, err = p.expected(ctx, f.current); err != nil {
			return err
		}
	}
	set, err := p.aliases().Set(ctx, name, change)
	if err != nil {
		return err
	}
	a.wrote(p.tracker)
	return a.printAlias(set, format)
}

// expected is what an alias is to mean now, as it is kept. A run that is gone can still be meant by its whole id.
func (p place) expected(ctx context.Context, text string) (*string, error) {
	if text == "" {
		return &text, nil
	}
	text, err := p.expand(ctx, text)
	if err != nil {
		return nil, err
	}
	run, artifact, err := p.artifactOf(ctx, text)
	if errors.Is(err, store.ErrNotExist) {
		return &text, nil
	}
	if err != nil {
		return nil, err
	}
	node := string(run)
	if artifact != "" {
		node += "#" + artifact
	}
	return &node, nil
}

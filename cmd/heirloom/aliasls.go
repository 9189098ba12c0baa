package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/alias"
)

func newAliasLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Short:   "list what names mean",
		Example: `  heirloom alias ls -o csv`,
		Args:    takes(""),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.aliasList(c.Context(), "no aliases", func(ctx context.Context, set *alias.Set) ([]alias.Alias, error) { return set.List(ctx) })
		},
	}
}

func newAliasHistory(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "history NAME",
		Short:             "list what a name ever meant, the latest first",
		Long:              `List what a name ever meant, the latest first, and who changed it. Where it was removed it has no node.`,
		Example:           `  heirloom alias history prod`,
		Args:              takes("NAME"),
		ValidArgsFunction: a.completeAliases,
		RunE: func(c *cobra.Command, args []string) error {
			return a.aliasList(c.Context(), "", func(ctx context.Context, set *alias.Set) ([]alias.Alias, error) { return set.History(ctx, args[0]) })
		},
	}
}

// aliasList prints aliases; empty is what it says on stderr where there are none.
func (a *app) aliasList(ctx context.Context, empty string, list func(context.Context, *alias.Set) ([]alias.Alias, error)) error {
	format, p, err := a.formatHere(ctx, render.ListFormats)
	if err != nil {
		return err
	}
	found, err := list(ctx, p.aliases())
	if err != nil {
		return err
	}
	if len(found) == 0 {
		a.note("%s in %s", empty, p.store.KeyURL(""))
	}
	return a.printList(render.Aliases(found), format)
}

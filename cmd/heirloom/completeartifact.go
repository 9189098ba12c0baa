package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// completeArtifacts completes RUN#NAME: first the run, then behind "#" what it made. It is silent about errors.
func (a *app) completeArtifacts(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	const directive = cobra.ShellCompDirectiveNoFileComp
	p, err := a.here(ctx)
	if err != nil {
		return nil, directive
	}
	run, _, named := strings.Cut(typed, "#")
	if name, isAlias := strings.CutPrefix(typed, "@"); isAlias && !named {
		return prefixed("@", p.aliasesLike(ctx, name)), directive
	}
	if !named {
		return matching(ctx, p.tracker, typed), directive | cobra.ShellCompDirectiveNoSpace
	}
	list, err := p.allOf(ctx, run)
	if err != nil {
		return nil, directive
	}
	var names []string
	for _, m := range list {
		if name := run + "#" + m.Name; strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	return names, directive
}

// completeArtifactGet completes RUN#NAME, then a local file.
func (a *app) completeArtifactGet(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return files(c, args, typed)
	}
	return a.completeArtifacts(c, args, typed)
}

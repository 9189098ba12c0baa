package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/lineage/alias"
	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

func newAlias(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "alias",
		Short: "names such as prod for runs and artifacts",
		Long: `Keep names such as prod or best for a run or an artifact of one. Wherever a run or
node is named, @prod stands for it; in filters it is attributes.alias. What a name meant
before is never overwritten: heirloom alias history tells.`,
		Example: `  heirloom alias set prod train-x7f2#model.bin --reason "passed the review"
  heirloom artifact get @prod
  heirloom lineage @prod --up`,
	}, newAliasSet(a), newAliasLs(a), newAliasHistory(a), newAliasRm(a))
}

// aliases are those of the place.
func (p place) aliases() *alias.Set { return alias.NewSet(p.store, nil) }

// alias is the node that a name means: up to two requests. A name that means nothing is store.ErrNotExist.
func (p place) alias(ctx context.Context, name string) (string, error) {
	meant, err := p.meaning(ctx, name)
	return meant.Node, err
}

// meaning is alias with all that is known of it.
func (p place) meaning(ctx context.Context, name string) (alias.Alias, error) {
	meant, err := p.aliases().Get(ctx, name)
	if errors.Is(err, store.ErrNotExist) {
		err = &advised{err: err, advice: "heirloom alias ls lists them"}
	}
	return meant, err
}

// expand puts what an alias means in the place of @NAME, also in @NAME#ARTIFACT: one listing and one read, and none for
// other texts.
func (p place) expand(ctx context.Context, text string) (string, error) {
	name, isAlias := strings.CutPrefix(text, "@")
	if !isAlias {
		return text, nil
	}
	name, artifact, hasArtifact := strings.Cut(name, "#")
	node, err := p.alias(ctx, name)
	if err != nil || !hasArtifact {
		return node, err
	}
	return node + "#" + artifact, nil
}

// resolveAliases replaces what a filter asks of aliases by ids of runs.
func resolveAliases(e filter.Expr, list []alias.Alias) filter.Expr {
	if e == nil || !filter.NamesAlias(e) {
		return e
	}
	names := map[string][]string{}
	for _, a := range list {
		names[string(a.Run())] = append(names[string(a.Run())], a.Name)
	}
	return filter.WithAliases(e, names)
}

// completeAliases completes the name of an alias as the first argument. It is silent about errors.
func (a *app) completeAliases(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	p, err := a.here(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.aliasesLike(ctx, typed), cobra.ShellCompDirectiveNoFileComp
}

// aliasesLike lists the names that begin with what was typed.
func (p place) aliasesLike(ctx context.Context, typed string) []string {
	list, err := p.aliases().List(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, a := range list {
		if strings.HasPrefix(a.Name, typed) {
			names = append(names, a.Name)
		}
	}
	return names
}

// printAlias tells what a name means from now on.
func (a *app) printAlias(set alias.Alias, format render.Format) error {
	if a.wantsJSON() || format == render.CSV {
		return a.printList(render.Aliases([]alias.Alias{set}), format)
	}
	if set.Removed() {
		a.note("@%s means nothing any more", set.Name)
		return nil
	}
	what := set.Run().Name()
	if set.Artifact != "" {
		what += "#" + set.Artifact
	}
	a.note("@%s means %s", set.Name, what)
	return nil
}

// artifactOf finds out whether a text, also @NAME, names a run, or an artifact that it has recorded.
func (p place) artifactOf(ctx context.Context, text string) (run tracker.RunID, artifact string, err error) {
	if text, err = p.expand(ctx, text); err != nil {
		return "", "", err
	}
	run, err = p.visibleRun(ctx, text)
	if err == nil || !strings.Contains(text, "#") {
		return run, "", err
	}
	list, err := p.madeBy(ctx, text)
	if err != nil {
		return "", "", err
	}
	return list[0].run, list[0].Name, nil
}

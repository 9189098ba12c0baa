package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// completionTime is how long a Tab may take.
const completionTime = 2 * time.Second

// completeRuns completes the id of a run as the first argument. It is silent about errors.
func (a *app) completeRuns(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRun(c, nil, typed)
}

// completeRun completes the id of a run as the value of a flag.
func (a *app) completeRun(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	p, err := a.here(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if name, isAlias := strings.CutPrefix(typed, "@"); isAlias {
		return prefixed("@", p.aliasesLike(ctx, name)), cobra.ShellCompDirectiveNoFileComp
	}
	return matching(ctx, p.tracker, typed), cobra.ShellCompDirectiveNoFileComp
}

func prefixed(prefix string, names []string) []string {
	for i, name := range names {
		names[i] = prefix + name
	}
	return names
}

// matching lists the ids that begin with what was typed, or else the short names that do.
func matching(ctx context.Context, t *tracker.FileTracker, typed string) []string {
	var runs []tracker.RunID
	for id, err := range t.RunIDs(ctx, "") {
		if err != nil {
			break
		}
		runs = append(runs, id)
	}
	return beginning(runs, typed)
}

// beginning is matching among given ids.
func beginning(runs []tracker.RunID, typed string) []string {
	var ids, names []string
	for _, id := range runs {
		if strings.HasPrefix(string(id), typed) {
			ids = append(ids, string(id))
		}
		if strings.HasPrefix(id.Name(), typed) {
			names = append(names, id.Name())
		}
	}
	if len(ids) > 0 {
		return ids
	}
	return names
}

// completeStates completes the last of several states with commas between them.
func completeStates(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var words []string
	for _, state := range stateNames() {
		words = append(words, before+state)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// files leaves the completion to the shell, which knows files, and the commands of a line.
func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// fixed completes with the same words always.
func fixed(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// hashModes lists what --hash takes.
func hashModes() []string {
	return []string{string(runner.HashSHA256), string(runner.HashSize), string(runner.HashNone)}
}

// register gives a flag its completion; the flag exists, so there is no error.
func register(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	_ = c.RegisterFlagCompletionFunc(flag, complete)
}

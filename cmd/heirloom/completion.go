package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	return matching(ctx, p.tracker, typed), cobra.ShellCompDirectiveNoFileComp
}

// matching lists the ids that begin with what was typed, or else the short names that do.
func matching(ctx context.Context, t *tracker.FileTracker, typed string) []string {
	var ids, names []string
	for id, err := range t.RunIDs(ctx, "") {
		if err != nil {
			break
		}
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

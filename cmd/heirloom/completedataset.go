package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/dataset"
)

// completeDataset completes the name of a dataset as the only argument: names, and once one is followed by "@" its
// versions.
func (a *app) completeDataset(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.datasetNames(c, strings.Contains(typed, "@"), typed), cobra.ShellCompDirectiveDefault
}

// completeDatasetName completes a name without its version.
func (a *app) completeDatasetName(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.datasetNames(c, false, typed), cobra.ShellCompDirectiveNoFileComp
}

// completeDatasetSplit completes the name of a dataset, and then a split.
func (a *app) completeDatasetSplit(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return splitNames(), cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := a.completeDataset(c, args, typed)
	return list, cobra.ShellCompDirectiveNoFileComp
}

func splitNames() []string {
	return []string{string(dataset.Train), string(dataset.Val), string(dataset.Test)}
}

// datasetNames lists the names that begin with what was typed, each once. It is silent about errors.
func (a *app) datasetNames(c *cobra.Command, versions bool, typed string) (list []string) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	p, err := a.here(ctx)
	if err != nil {
		return nil
	}
	for ref, err := range dataset.Refs(ctx, p.store) {
		if err != nil || len(list) == completionMost {
			break
		}
		name := ref.Name
		if versions {
			name = ref.String()
		}
		if strings.HasPrefix(name, typed) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

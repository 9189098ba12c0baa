package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// completionMost bounds the candidates of a Tab, and so its requests.
const completionMost = 1000

// completeSpot completes a path of a store as the only argument.
func (a *app) completeSpot(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeSpots(c, args, typed)
}

// completeSpots completes a path of a store, one level at a time. It is silent about errors.
func (a *app) completeSpots(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(c.Context(), completionTime)
	defer cancel()
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	found, err := a.spots(ctx)
	if err != nil {
		return nil, directive
	}
	dir := typed[:strings.LastIndexByte(typed, '/')+1]
	at := "."
	if dir != "" {
		at = dir
	}
	s, err := found.at(ctx, at)
	if err != nil {
		return nil, directive
	}
	names := s.children(ctx, dir, typed)
	if len(names) == 1 && !strings.HasSuffix(names[0], "/") {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return names, directive
}

// children lists what right below the spot begins with what was typed, as the user writes it.
func (s spot) children(ctx context.Context, dir, typed string) []string {
	var names []string
	for e, err := range s.store.ListDir(ctx, s.key) {
		if err != nil || len(names) == completionMost {
			break
		}
		name := dir + e.Key.Base()
		if e.IsDir {
			name += "/"
		}
		if strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	return names
}

// completePut completes local files, and the keys of the store once there is a source.
func (a *app) completePut(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.completeSpots(c, nil, typed)
	if len(args) == 0 || len(names) == 0 {
		return files(c, args, typed)
	}
	return names, directive
}

// completeGet completes a path of the store, then local files.
func (a *app) completeGet(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return files(c, args, typed)
	}
	return a.completeSpot(c, args, typed)
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
)

func newRunopts(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "runopts [SCHEDULER]",
		Short: "print the options of schedulers, for run --cfg",
		Long: `Print the options that schedulers understand, with type, default and meaning. They
are given by run --cfg K=V,LIST=A,B, or as defaults in heirloom.toml below
[scheduler.NAME] and in .torchxconfig below [NAME].`,
		Example:           "  heirloom runopts slurm",
		Args:              atMostOne("SCHEDULER"),
		ValidArgsFunction: a.completeSchedulers,
		RunE:              func(c *cobra.Command, args []string) error { return a.runRunopts(c, args) },
	}
}

// schedulerOptions are the options of one scheduler, as runopts prints them in JSON.
type schedulerOptions struct {
	Scheduler string          `json:"scheduler"`
	Options   []runner.Option `json:"options"`
}

func (a *app) runRunopts(c *cobra.Command, args []string) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	r, err := a.runnerOf("")
	if err != nil {
		return err
	}
	var names []string
	for _, b := range r.Backends() {
		names = append(names, b.Name)
	}
	if len(args) == 1 {
		name, err := schedulerName(args[0])
		if err != nil {
			return err
		}
		names = []string{name}
	}
	all := []schedulerOptions{}
	for i, name := range names {
		set, err := r.Options(c.Context(), name)
		if err != nil {
			return err
		}
		all = append(all, schedulerOptions{Scheduler: name, Options: append([]runner.Option{}, set.List()...)})
		if format == render.Table {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			fmt.Fprintf(a.stdout, "%s:\n%s\n", name, set.Usage())
		}
	}
	if format == render.Table {
		return nil
	}
	return a.printJSON(map[string]any{"schedulers": all})
}

// completeOptions completes the name of an option of the scheduler that is given.
func (a *app) completeOptions(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	r, err := a.runnerOf("")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, err := schedulerName(cmp.Or(c.Flag("scheduler").Value.String(), schedulerLocal))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	set, err := r.Options(c.Context(), name)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var words []string
	for _, option := range set.List() {
		words = append(words, before+option.Name+"=")
	}
	slices.Sort(words)
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

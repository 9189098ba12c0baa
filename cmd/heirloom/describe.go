package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

func newDescribe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "describe RUN",
		Short: "print what was submitted",
		Long: `Print what was submitted: roles with their commands, environment and resources,
the options of the scheduler, and where the job stands. Secrets are left out.`,
		Example:           "  heirloom describe train-x7f2\n  heirloom describe train-x7f2 -o json",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(c *cobra.Command, args []string) error {
			return a.onJob(c.Context(), args[0], "", documentFormats(), func(l *launched, format render.Format) error {
				d, err := l.runner.Describe(c.Context(), l.handle)
				if err != nil {
					return err
				}
				d.App, d.Options = d.App.Redacted(), d.Options.Redacted()
				if format != render.Table {
					return a.printJSON(d)
				}
				return a.printDescription(d)
			})
		},
	}
}

func (a *app) printDescription(d runner.Description) error {
	for _, line := range append(statusLines(d.Status), [][2]string{{"user", d.User}, {"dir", d.Dir}, {"logs", d.LogDir}}...) {
		if line[1] != "" {
			fmt.Fprintf(a.stdout, "%-10s %s\n", line[0], render.Sanitize(store.Redact(line[1])))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Options)) {
		if d.Options[key] != nil {
			fmt.Fprintf(a.stdout, "%-10s %s=%s\n", "option", key, render.Sanitize(runner.FormatOption(d.Options[key])))
		}
	}
	for _, role := range d.App.Roles {
		text, err := indented(role)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "\nrole %s\n%s\n", render.Sanitize(role.Name), text)
	}
	return nil
}

// indented is a value as JSON for people.
func indented(v any) (string, error) {
	var b strings.Builder
	if err := render.Document(&b, v, render.JSON); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

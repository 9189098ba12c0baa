package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// What [cli:run] in .torchxconfig may say. The scheduler is taken where settings are.
const (
	defaultComponent = "component"
	defaultScheduler = "scheduler"
	defaultWorkspace = "workspace"
)

// takeDefaults takes from [cli:run] of TorchX's files what the line does not say: the component, also where only its
// options are given, and the workspace. It gives the words to run.
func (a *app) takeDefaults(c *cobra.Command, args []string, f *runFlags) ([]string, error) {
	tables, err := a.tables()
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for _, e := range tables.Command("run") {
		if known := []string{defaultComponent, defaultScheduler, defaultWorkspace}; !slices.Contains(known, e.Key) {
			a.warn("%s: [cli:run] has no %s, only %s; it is passed over", e.File, e.Key, strings.Join(known, ", "))
			continue
		}
		said[e.Key], _ = e.Value.(string)
		if e.Key == defaultComponent {
			f.componentFrom = e.File
		}
	}
	if !c.Flags().Changed("workspace") && len(f.workspaces) == 0 && said[defaultWorkspace] != "" {
		f.workspaces = []string{said[defaultWorkspace]}
	}
	f.workspaces = slices.DeleteFunc(f.workspaces, func(text string) bool { return text == "" }) // none, whatever the file says
	component := said[defaultComponent]
	switch {
	case f.stdin || len(args) > 0 && (component == "" || !strings.HasPrefix(args[0], "-")):
		f.componentFrom = ""
		return args, nil
	case component == "":
		return nil, usagef(c.CommandPath(), "missing COMMAND or COMPONENT: the line names none, and no [cli:run] in .torchxconfig does")
	}
	return append([]string{component}, args...), nil
}

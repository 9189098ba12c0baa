package main

import (
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
)

// printPlannedRerun tells people what would be started.
func (a *app) printPlannedRerun(plan plannedRerun) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, render.Sanitize(value))
		}
	}
	line("rerun of", string(plan.RerunOf))
	line("name", plan.Name)
	words := make([]string, len(plan.Command))
	for i, word := range plan.Command {
		if words[i] = word; strings.ContainsAny(word, " \t\n'\"$\\*?[]{}()<>|&;`~#!") || word == "" {
			words[i] = shellWord(word)
		}
	}
	line("command", strings.Join(words, " "))
	for _, w := range plan.Workspaces {
		line("workspace", strings.Join(strings.Fields(w.Digest+" "+w.Role+" "+w.To), " "))
	}
	line("commit", plan.Commit)
	for _, entry := range plan.Environment {
		line("variable", entry)
	}
	for key, value := range plan.Params.All() {
		line("param", fmt.Sprintf("%s=%v", key, value))
	}
	for _, s := range plan.Sources {
		name := string(s.ID)
		if s.Artifact != "" {
			name += "#" + s.Artifact
		}
		line("source", name)
	}
	for _, m := range plan.Missing {
		line("missing", m)
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

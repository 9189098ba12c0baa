package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// plannedRerun is what rerun --dry-run prints as JSON; fields are only ever added.
type plannedRerun struct {
	RerunOf     tracker.RunID       `json:"rerun_of"`
	Name        string              `json:"name"`
	Command     []string            `json:"command"`
	Environment []string            `json:"environment"` // the recorded variables, NAME=value
	Workspaces  []plannedWorkspace  `json:"workspaces"`
	Commit      string              `json:"commit"` // of git; "" if not known
	Params      *tracker.Metadata   `json:"params"`
	Sources     []plannedRerunInput `json:"sources"`
	Outputs     []string            `json:"outputs"` // said with --output
	Missing     []string            `json:"missing"` // what redaction took out
}

type plannedWorkspace struct {
	Role   string `json:"role"` // "" = every role
	To     string `json:"to"`
	Digest string `json:"digest"`
}

type plannedRerunInput struct {
	ID       tracker.RunID `json:"id"`
	Artifact string        `json:"artifact"`
}

func (a *app) printRerun(again runner.Rerun, job runner.Job) error {
	plan := plannedRerun{
		RerunOf: job.RerunOf, Name: job.Name, Command: store.RedactArgs(job.Args), Environment: append([]string{}, again.Environ...),
		Workspaces: []plannedWorkspace{}, Commit: again.Commit, Params: job.Params, Sources: []plannedRerunInput{}, Missing: []string{},
		Outputs: store.RedactArgs(job.Outputs),
	}
	for _, w := range again.Workspace {
		plan.Workspaces = append(plan.Workspaces, plannedWorkspace{"", w.To, string(w.Digest)})
	}
	for _, role := range slices.Sorted(maps.Keys(again.RoleWorkspaces)) {
		for _, w := range again.RoleWorkspaces[role] {
			plan.Workspaces = append(plan.Workspaces, plannedWorkspace{role, w.To, string(w.Digest)})
		}
	}
	for _, s := range job.Sources {
		plan.Sources = append(plan.Sources, plannedRerunInput{s.ID, s.Artifact})
	}
	for _, m := range again.Missing {
		plan.Missing = append(plan.Missing, m.String())
	}
	if a.wantsJSON() {
		return a.printJSON(plan)
	}
	return a.printPlannedRerun(plan)
}

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
	for _, output := range plan.Outputs {
		line("output", output)
	}
	for _, m := range plan.Missing {
		line("missing", m)
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

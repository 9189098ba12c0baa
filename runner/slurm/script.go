package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
)

// The hidden commands of the program that a node runs. Each takes the job directory.
const (
	BatchCommand = "slurm-batch" // calls RunBatch
	TaskCommand  = "slurm-task"  // calls RunTask
)

const programName = "heirloom"

// prepare makes the request of a plan. It reads the user's script, if there is one,
// and writes nothing.
func (s *Scheduler) prepare(plan *runner.Plan) (Request, error) {
	o, err := s.decode(plan.Options)
	if err != nil {
		return Request{}, err
	}
	r := Request{Dir: s.dirOf(plan, o)}
	groups, err := s.groups(plan)
	if err != nil {
		return Request{}, err
	}
	if o.Script == "" {
		r.Args = sbatchArgs(plan, o, r.Dir)
	} else {
		if r.Body, err = readScript(o.Script); err != nil {
			return Request{}, err
		}
		groups = directives(r.Body)
		r.Args = scriptArgs(plan, o, groups)
	}
	r.Script = script(r, groups, o.Setup, programOf(plan, r.Dir))
	return r, nil
}

// sbatchArgs are the arguments that hold for the whole job. The run's id stands in
// its comment, and the app's in its name, which is how a job is found whose number
// was lost.
func sbatchArgs(plan *runner.Plan, o jobOptions, dir string) []string {
	words := []string{
		"--parsable", "--job-name=" + plan.Handle.App, "--comment=" + commentOf(plan, o.Comment), "--requeue", "--open-mode=append",
		"--output=" + strings.ReplaceAll(dir, "%", "%%") + "/slurm-%j.out",
	}
	words = addFlag(words, "chdir", plan.Dir)
	return append(append(words, jobFlags(o)...), o.SbatchArgs...)
}

// scriptArgs are those of a user's own script, whose directives hold unless an option
// says otherwise.
func scriptArgs(plan *runner.Plan, o jobOptions, directives []string) []string {
	words := []string{"--parsable", "--comment=" + commentOf(plan, o.Comment)}
	if !directed(directives, "--job-name", "-J") {
		words = addFlag(words, "job-name", plan.Handle.App)
	}
	if !directed(directives, "--chdir", "-D") {
		words = addFlag(words, "chdir", plan.Dir)
	}
	words = append(append(words, jobFlags(o)...), groupFlags(o)...)
	return append(words, o.SbatchArgs...)
}

// directed says whether a script's directives have an option.
func directed(directives []string, long, short string) bool {
	for _, line := range directives {
		for _, word := range strings.Fields(line) {
			if word == long || strings.HasPrefix(word, long+"=") || strings.HasPrefix(word, short) {
				return true
			}
		}
	}
	return false
}

func jobFlags(o jobOptions) []string {
	var words []string
	for _, f := range []struct{ name, value string }{
		{"account", o.Account}, {"mail-user", o.MailUser}, {"mail-type", o.MailType}, {"array", o.Array},
	} {
		words = addFlag(words, f.name, f.value)
	}
	return words
}

const commentStart = "heirloom:"

// commentOf is the job's comment: the run's id and the launch, then the user's text.
func commentOf(plan *runner.Plan, text string) string {
	comment := commentStart + string(plan.RunID) + "#" + plan.Launch
	if text != "" {
		comment += " " + text
	}
	return comment
}

// ofComment gives the run's id and the launch of a job's comment.
func ofComment(comment string) (run, launch string, ok bool) {
	rest, ok := strings.CutPrefix(comment, commentStart)
	first, _, _ := strings.Cut(rest, " ")
	run, launch, found := strings.Cut(first, "#")
	return run, launch, ok && found && run != ""
}

// groups are the lines of directives, one group for each role. Slurm's own reader of
// them takes words in single quotes.
func (s *Scheduler) groups(plan *runner.Plan) ([]string, error) {
	var groups []string
	for i := range plan.App.Roles {
		role := &plan.App.Roles[i]
		own, err := s.group(plan.Options, role)
		if err != nil {
			return nil, err
		}
		words := append(taskFlags(role, own), groupFlags(own)...)
		groups = append(groups, "#SBATCH "+quoteAll(words))
	}
	return []string{strings.Join(groups, "\n#SBATCH hetjob\n")}, nil
}

// taskFlags say what the replicas of a role need.
func taskFlags(role *runner.Role, o jobOptions) []string {
	perNode := min(o.NtasksPerNode, role.NumReplicas)
	words := []string{
		fmt.Sprintf("--nodes=%d", (role.NumReplicas+perNode-1)/perNode),
		fmt.Sprintf("--ntasks=%d", role.NumReplicas),
		fmt.Sprintf("--ntasks-per-node=%d", perNode),
	}
	words = addFlag(words, "cpus-per-task", role.Resource.CPU)
	if mem := role.Resource.MemMB * perNode; mem > 0 && !o.NoMem {
		words = append(words, fmt.Sprintf("--mem=%dM", mem))
	}
	return addFlag(words, "gpus-per-task", role.Resource.GPU)
}

// groupFlags say where a role runs.
func groupFlags(o jobOptions) []string {
	var words []string
	for _, f := range []struct{ name, value string }{
		{"partition", o.Partition}, {"time", o.Time}, {"constraint", o.Constraint}, {"qos", o.QOS},
		{"exclude", o.Exclude}, {"nodelist", o.Nodelist},
	} {
		if f.value != "" {
			words = append(words, "--"+f.name+"="+f.value)
		}
	}
	return words
}

// script writes the batch script.
func script(r Request, directives, setup []string, program string) string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n#\n# Generated by heirloom\n")
	fmt.Fprintf(&b, "# Run with: sbatch %s\n#\n", strings.ReplaceAll(quoteAll(r.Args), "\n", " "))
	for _, lines := range directives {
		fmt.Fprintln(&b, lines)
	}
	b.WriteByte('\n')
	if len(setup) > 0 {
		fmt.Fprintf(&b, "set -e\n%s\nset +e\n\n", strings.Join(setup, "\n"))
	}
	fmt.Fprintf(&b, "exec %s %s %s\n", quote(program), BatchCommand, quote(r.Dir))
	return b.String()
}

// readScript reads a user's script.
func readScript(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", invalid("the script %s must be given by an absolute path", path)
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read batch script: %w", err)
	}
	if !strings.HasPrefix(string(body), "#!") {
		return "", invalid("the script %s does not begin with #!, which sbatch demands", path)
	}
	return string(body), nil
}

// directives are the #SBATCH lines of a script, which sbatch heeds before its first
// command.
func directives(body string) []string {
	var lines []string
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#SBATCH"):
			lines = append(lines, line)
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		default:
			return lines
		}
	}
	return lines
}

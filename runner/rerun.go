package runner

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// KeyApp is the metadata key of the roles of a run that is more than one process,
// as App's JSON, redacted.
const KeyApp = "heirloom.app"

// KeyOutputs is the metadata key of what a run was said to write beside its output
// directory: paths, those below its working directory relative to that, and URLs.
const KeyOutputs = "heirloom.outputs"

// Rerun is what a run left of what started it, so that it can be done once more.
type Rerun struct {
	Job       Job            // Args, App, Name, Params, Tags, Sources, Outputs, RerunOf; the rest is the caller's
	Environ   []string       // recorded variables that say under which conditions it ran, sorted
	Workspace []WorkspaceDir // to be laid out, for all roles; From is empty
	// RoleWorkspaces are those of roles, by their names, where they start from different
	// ones; Workspace is then empty.
	RoleWorkspaces map[string][]WorkspaceDir
	Commit         string // of git, "" = not known
	Remote         string // of git, "" = not known
	Dirty          bool   // the work tree was not what was committed, or that is not known
	// Missing names what redaction took out, in words: without it the run cannot be
	// done once more.
	Missing []Redacted
}

// Redacted is one thing of a run that was not recorded because it is, or looks
// like, a secret.
type Redacted struct {
	Kind RedactedKind
	Name string // of a variable, or a parameter; of an argument, it and the one before it
}

// RedactedKind says what was redacted.
type RedactedKind string

// The kinds of what was redacted.
const (
	RedactedArg     RedactedKind = "argument"
	RedactedParam   RedactedKind = "parameter"
	RedactedEnviron RedactedKind = "variable"
	RedactedOutput  RedactedKind = "output"
)

func (r Redacted) String() string { return string(r.Kind) + " " + r.Name }

// NewRerun reads what started the last attempt of a run. The error has kind
// store.ErrInvalid where nothing of it is recorded, as of what TorchX wrote.
func NewRerun(run *tracker.Run) (Rerun, error) {
	r := Rerun{Commit: run.Metadata.Text(tracker.KeyGitCommit), Remote: run.Metadata.Text(tracker.KeyGitRemote)}
	dirty, known := run.Metadata.Get(tracker.KeyGitDirty)
	r.Dirty = !known || dirty != false
	r.Job = Job{
		Name: run.Metadata.Text(tracker.KeyName), RerunOf: run.ID,
		Project: run.Metadata.Text(tracker.KeyProject), Experiment: run.Metadata.Text(tracker.KeyExperiment),
		Params: below(run.Metadata, tracker.PrefixParams), Tags: below(run.Metadata, tracker.PrefixTags),
	}
	if len(run.Attempts) > 0 {
		last := run.Attempts[len(run.Attempts)-1].Start
		r.Job.Args = last.Command
		r.addEnviron(last.Environ)
	}
	if err := r.readApp(run.Metadata); err != nil {
		return r, err
	}
	if len(r.Job.Args) == 0 && len(r.Job.App.Roles) == 0 {
		return r, fmt.Errorf("%s: no command is recorded: %w", run.ID, store.ErrInvalid)
	}
	for _, s := range run.Sources {
		if s.Role != tracker.RoleParent && s.Role != tracker.RoleRerun && !strings.HasPrefix(string(s.ID), workspaceInput) {
			r.Job.Sources = append(r.Job.Sources, s)
		}
	}
	outputs, _ := run.Metadata.Get(KeyOutputs)
	list, _ := outputs.([]any)
	for _, v := range list {
		if output, ok := v.(string); ok {
			r.Job.Outputs = append(r.Job.Outputs, output)
		}
	}
	r.findMissing()
	return r, r.readWorkspaces(run.Metadata)
}

// addEnviron takes what belongs to the conditions of the job. Where it ran, on which
// machine and as which rank, is another matter each time.
func (r *Rerun) addEnviron(environ []string) {
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); !ofPlace(name) {
			r.Environ = append(r.Environ, entry)
		}
	}
	slices.Sort(r.Environ)
}

// ofPlace says whether a recorded variable tells where a job ran.
func ofPlace(name string) bool {
	switch name {
	case "RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
		"TORCHELASTIC_RUN_ID", "KUBERNETES_NAMESPACE", "JOB_COMPLETION_INDEX", "CONDA_DEFAULT_ENV", "VIRTUAL_ENV":
		return true
	}
	return strings.HasPrefix(name, "SLURM_")
}

// Surroundings is an environment in which the recorded variables have the values
// they had, and those of their kind that were not set then are not.
func (r *Rerun) Surroundings(environ []string) []string {
	ours := store.RedactEnv(environ)
	kept := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		listed := slices.ContainsFunc(ours, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		return listed && !ofPlace(name) && !r.keepsOwn(name)
	})
	for _, entry := range r.Environ {
		if !store.HasRedaction(entry) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// keepsOwn says whether a variable was redacted, so that only ours can serve.
func (r *Rerun) keepsOwn(name string) bool {
	return slices.ContainsFunc(r.Environ, func(e string) bool { return strings.HasPrefix(e, name+"=") && store.HasRedaction(e) })
}

// ReplaceCommand does another command in place of the recorded one: what the
// parameters had of its arguments goes with it.
func (r *Rerun) ReplaceCommand(args []string) {
	kept, fromArgs := &pyjson.Object{}, &pyjson.Object{}
	if len(r.Job.Args) > 0 {
		addFlat(fromArgs, "", paramsFromArgs(r.Job.Args))
	}
	for key, value := range r.Job.Params.All() {
		if _, ok := fromArgs.Get(key); !ok {
			kept.Set(key, value)
		}
	}
	r.Job.Args, r.Job.App, r.Job.Params, r.Job.ParamsFromArgs = args, App{}, kept, true
	r.Missing = slices.DeleteFunc(r.Missing, func(m Redacted) bool { return m.Kind == RedactedArg })
}

// findMissing lists what redaction took out.
func (r *Rerun) findMissing() {
	for i, arg := range r.Job.Args {
		if store.HasRedaction(arg) {
			name := arg
			if i > 0 && !strings.Contains(arg, "=") {
				name = r.Job.Args[i-1] + " " + arg
			}
			r.Missing = append(r.Missing, Redacted{RedactedArg, name})
		}
	}
	for _, role := range r.Job.App.Roles {
		for _, arg := range append([]string{role.Entrypoint}, role.Args...) {
			if store.HasRedaction(arg) && !slices.Contains(r.Job.Args, arg) {
				r.Missing = append(r.Missing, Redacted{RedactedArg, role.Name + ": " + arg})
			}
		}
		for name, value := range role.Env {
			if store.HasRedaction(value) {
				r.Missing = append(r.Missing, Redacted{RedactedEnviron, role.Name + ": " + name})
			}
		}
	}
	fromArgs := &pyjson.Object{}
	if len(r.Job.Args) > 0 {
		addFlat(fromArgs, "", paramsFromArgs(r.Job.Args))
	}
	for key, value := range r.Job.Params.All() {
		if _, ok := fromArgs.Get(key); ok { // it is as missing as its argument
			continue
		}
		if body, err := pyjson.Marshal(value); err == nil && store.HasRedaction(string(body)) {
			r.Missing = append(r.Missing, Redacted{RedactedParam, key})
		}
	}
	for _, output := range r.Job.Outputs {
		if store.HasRedaction(output) {
			r.Missing = append(r.Missing, Redacted{RedactedOutput, output})
		}
	}
	for _, entry := range r.Environ {
		if name, value, _ := strings.Cut(entry, "="); store.HasRedaction(value) {
			r.Missing = append(r.Missing, Redacted{RedactedEnviron, name})
		}
	}
	slices.SortStableFunc(r.Missing, func(a, b Redacted) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
}

func below(m *tracker.Metadata, prefix string) *pyjson.Object {
	o := &pyjson.Object{}
	for key, value := range m.All() {
		if name, ok := strings.CutPrefix(key, prefix); ok && value != nil {
			o.Set(name, value)
		}
	}
	return o
}

func (r *Rerun) readApp(m *tracker.Metadata) error {
	v, ok := m.Get(KeyApp)
	if !ok || v == nil {
		return nil
	}
	body, err := pyjson.Marshal(v)
	if err == nil {
		err = json.Unmarshal(body, &r.Job.App)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w: %w", KeyApp, err, store.ErrCorrupt)
	}
	return nil
}

func (r *Rerun) readWorkspaces(m *tracker.Metadata) error {
	v, _ := m.Get(KeyWorkspaces)
	list, _ := v.([]any)
	for _, item := range list {
		o, _ := item.(*pyjson.Object)
		digest, err := store.ParseDigest(o.Text("digest"))
		if err != nil {
			return fmt.Errorf("read %s: %w: %w", KeyWorkspaces, err, store.ErrCorrupt)
		}
		w := WorkspaceDir{To: o.Text("to"), Digest: digest}
		role := o.Text("role")
		if role == "" {
			r.Workspace = append(r.Workspace, w)
			continue
		}
		if r.RoleWorkspaces == nil {
			r.RoleWorkspaces = map[string][]WorkspaceDir{}
		}
		r.RoleWorkspaces[role] = append(r.RoleWorkspaces[role], w)
	}
	return nil
}

// setApp records an app that is more than one process, which the command alone does
// not tell.
func setApp(m *pyjson.Object, app App) {
	roles := app.Roles
	if len(roles) == 0 || len(roles) == 1 && roles[0].NumReplicas == 1 && len(roles[0].Env) == 0 {
		return
	}
	body, err := json.Marshal(app.Redacted())
	if err != nil {
		return
	}
	if o, err := pyjson.UnmarshalObject(body); err == nil {
		m.Set(KeyApp, o)
	}
}

// setOutputs records what a job that starts in dir is said to write, if anything is.
func setOutputs(m *pyjson.Object, outputs []string, dir string) {
	if len(outputs) == 0 {
		return
	}
	list := make([]any, len(outputs))
	for i, output := range outputs {
		if rel, err := filepath.Rel(dir, output); err == nil && filepath.IsLocal(rel) {
			output = rel
		}
		list[i] = strings.ToValidUTF8(store.Redact(output), "\ufffd")
	}
	m.Set(KeyOutputs, list)
}

package runner

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
)

const maxRoleName = 100 // bytes

// Validate checks an app before anything is made of it, in TorchX's words where it
// has some. Resources are checked by the plan, since some schedulers need none.
// The error has kind store.ErrInvalid.
func (a *App) Validate() error {
	if err := checkName("app", a.Name); err != nil {
		return err
	}
	if len(a.Roles) == 0 {
		return invalid("No roles for app: %s. "+AdviceRoles, a.Name)
	}
	seen := map[string]bool{}
	for i := range a.Roles {
		role := &a.Roles[i]
		if err := role.validate(); err != nil {
			return err
		}
		if seen[role.Name] {
			return invalid("two roles of app %s are called %s", a.Name, role.Name)
		}
		seen[role.Name] = true
	}
	return nil
}

func invalid(format string, args ...any) error {
	return &torchxError{fmt.Sprintf(format, args...), store.ErrInvalid}
}

// checkName refuses what would not serve as the name of a directory, in a handle,
// or in a line of text.
func checkName(what, name string) error {
	why := ""
	switch {
	case name == "":
		why = "is empty"
	case name == "." || name == "..":
		why = "means a directory"
	case strings.ContainsAny(name, `/\`):
		why = "holds a slash"
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "holds a control character"
	case !utf8.ValidString(name):
		why = "is not UTF-8"
	case len(name) > maxRoleName:
		why = fmt.Sprintf("has %d bytes, more than %d", len(name), maxRoleName)
	default:
		return nil
	}
	return invalid("the name of the %s, %q, %s", what, name, why)
}

func (r *Role) validate() error {
	if err := checkName("role", r.Name); err != nil {
		return err
	}
	switch {
	case r.Entrypoint == "" || r.Entrypoint == "<MISSING>":
		return invalid("No entrypoint for role: %s. "+AdviceEntrypoint, r.Name)
	case r.NumReplicas <= 0:
		return invalid("Non-positive replicas for role: %s. "+AdviceNumReplicas, r.Name)
	case r.MinReplicas < 0 || r.MinReplicas > r.NumReplicas:
		return invalid("role %s: min_replicas is %d, not from 0 to num_replicas, %d", r.Name, r.MinReplicas, r.NumReplicas)
	case r.MaxRetries < 0:
		return invalid("role %s: max_retries is %d, less than 0", r.Name, r.MaxRetries)
	case !slices.Contains([]RetryPolicy{RetryReplica, RetryApplication, RetryRole}, r.Policy()):
		return invalid("role %s: no such retry policy: %s; known: %s, %s, %s", r.Name, r.RetryPolicy, RetryReplica, RetryApplication, RetryRole)
	}
	for _, check := range []func() error{r.checkWords, r.checkPorts, r.Resource.check, r.checkMounts, r.checkWorkspace} {
		if err := check(); err != nil {
			return fmt.Errorf("role %s: %w", r.Name, err)
		}
	}
	return nil
}

// checkWords refuses what no process can be given.
func (r *Role) checkWords() error {
	for _, word := range append([]string{r.Entrypoint}, r.Args...) {
		if strings.Contains(word, "\x00") {
			return invalid("the argument %q holds a NUL byte", word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(r.Env[name], "\x00") {
			return invalid("the environment variable %q cannot be set", name)
		}
	}
	return nil
}

func (r *Role) checkPorts() error {
	for _, name := range slices.Sorted(maps.Keys(r.PortMap)) {
		if port := r.PortMap[name]; port < 1 || port > 65535 {
			return invalid("port %s is %d, not from 1 to 65535", name, port)
		}
	}
	return nil
}

func (r *Role) checkMounts() error {
	for _, m := range r.Mounts {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Role) checkWorkspace() error {
	for _, dir := range r.Workspace {
		switch to := path.Clean(filepath.ToSlash(dir.To)); {
		case dir.From == "":
			return invalid("a directory of the workspace is empty")
		case path.IsAbs(to) || to == ".." || strings.HasPrefix(to, "../"):
			return invalid("the workspace puts %s at %s, outside of the working directory", dir.From, dir.To)
		}
	}
	return nil
}

// noResource is TorchX's refusal of a role that asks for nothing.
func noResource(r *Role) error {
	return invalid("No resource for role: %s (image: %s). "+AdviceResource, r.Name, r.Image)
}

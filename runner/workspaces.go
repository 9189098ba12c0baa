package runner

import (
	"slices"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	// KeyWorkspaces is the metadata key of what the run was started from: a list of
	// objects with "role", "" of which is every role, "to", where it lies below the
	// working directory, and "digest".
	KeyWorkspaces = "heirloom.workspaces"
	// KeyRerunOf is the metadata key of the run that this one does once more.
	KeyRerunOf = "heirloom.rerun_of"
)

// workspaceInput begins the ids of workspaces as inputs.
const workspaceInput = "workspace:"

// WorkspaceInput is a workspace as an input of a run. manifest is the URL of what
// tells of it.
func WorkspaceInput(digest store.Digest, manifest string) tracker.Source {
	return tracker.Source{
		ID: tracker.RunID(workspaceInput + digest), Role: tracker.RoleInput,
		URI: manifest, Version: string(digest), Digest: string(digest),
	}
}

func (r *run) workspaceInputs() []tracker.Source {
	var list []tracker.Source
	seen := map[store.Digest]bool{}
	for _, w := range r.job.Workspace {
		if seen[w.Digest] {
			continue
		}
		seen[w.Digest] = true
		list = append(list, WorkspaceInput(w.Digest, r.Store.KeyURL(WorkspaceKey(w.Digest))))
	}
	return list
}

func (r *run) describeWorkspace(m *pyjson.Object) {
	var list []any
	add := func(role string, dirs []WorkspaceDir) {
		for _, w := range dirs {
			list = append(list, pyjson.NewObject(
				pyjson.Member{Key: "role", Value: role}, pyjson.Member{Key: "to", Value: w.To}, pyjson.Member{Key: "digest", Value: string(w.Digest)}))
		}
	}
	switch roles := r.job.App.Roles; {
	case len(r.job.Workspace) == 0:
		return
	case !slices.ContainsFunc(roles, func(role Role) bool { return len(role.Workspace) > 0 }):
		add("", r.job.Workspace)
	case !slices.ContainsFunc(roles, func(role Role) bool { return !sameWorkspace(role.Workspace, roles[0].Workspace) }):
		add("", roles[0].Workspace)
	default:
		for i := range roles {
			add(roles[i].Name, roles[i].Workspace)
		}
	}
	m.Set(KeyWorkspaces, list)
}

// sameWorkspace says whether two lists lay the same out.
func sameWorkspace(a, b []WorkspaceDir) bool {
	return slices.EqualFunc(a, b, func(a, b WorkspaceDir) bool { return a.To == b.To && a.Digest == b.Digest })
}

// WorkspaceKey is where the manifest of a workspace is kept; see package workspace.
func WorkspaceKey(digest store.Digest) store.Key {
	return (store.Layout{}).Heirloom().Join("workspaces/trees", string(digest)+".json")
}

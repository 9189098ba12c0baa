package runner

import (
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const (
	// KeyWorkspaces is the metadata key of what the run was started from: a list of
	// objects with "to", where it lies below the working directory, and "digest".
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
	for _, w := range r.job.Workspace {
		list = append(list, WorkspaceInput(w.Digest, r.Store.KeyURL(WorkspaceKey(w.Digest))))
	}
	return list
}

func (r *run) describeWorkspace(m *pyjson.Object) {
	if len(r.job.Workspace) == 0 {
		return
	}
	list := make([]any, len(r.job.Workspace))
	for i, w := range r.job.Workspace {
		list[i] = pyjson.NewObject(pyjson.Member{Key: "to", Value: w.To}, pyjson.Member{Key: "digest", Value: string(w.Digest)})
	}
	m.Set(KeyWorkspaces, list)
}

// WorkspaceKey is where the manifest of a workspace is kept; see package workspace.
func WorkspaceKey(digest store.Digest) store.Key {
	return (store.Layout{}).Heirloom().Join("workspaces/trees", string(digest)+".json")
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
)

// roleWorkspace is one --workspace: a directory, and the role that it is for, "" for all.
type roleWorkspace struct {
	role string
	dir  runner.WorkspaceDir
}

// parseWorkspace reads [ROLE=]DIR[:SUBDIR]; relative paths are below workdir. A text that is the name of a directory is
// just that.
func parseWorkspace(text, workdir string) (roleWorkspace, error) {
	var w roleWorkspace
	from := strings.TrimPrefix(text, "file://") // as TorchX has it
	if !isDir(workdir, from) {
		if role, rest, ok := strings.Cut(from, "="); ok && role != "" && !strings.ContainsAny(role, `/\`) {
			w.role, from = role, rest
		}
		if at := strings.LastIndexByte(from, ':'); at > 0 && !isDir(workdir, from) {
			w.dir.To, from = from[at+1:], from[:at]
		}
	}
	if from == "" {
		return w, invalidf("--workspace %q is not [ROLE=]DIR[:SUBDIR]", text)
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(workdir, from)
	}
	w.dir.From = from
	var err error
	w.dir.To, err = workspace.CleanPlace(w.dir.To)
	return w, err
}

func isDir(workdir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(workdir, path)
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// takeWorkspaces keeps the directories that a job of one process starts from, and sets where it starts: in the directory
// itself if there is one, else in a copy of all. done removes that, unless the job has left something in it.
func (a *app) takeWorkspaces(ctx context.Context, p place, texts []string, job *runner.Job) (done func(), err error) {
	keeper := workspace.NewKeeper(p.store, nil)
	for _, text := range texts {
		w, err := parseWorkspace(text, job.Dir)
		if err == nil && w.role != "" && w.role != "main" {
			err = invalidf("--workspace %s: there is no role %q, only main", text, w.role)
		}
		if err != nil {
			return nil, err
		}
		if err := a.keepWorkspace(ctx, keeper, &w.dir); err != nil {
			return nil, err
		}
		job.Workspace = append(job.Workspace, w.dir)
	}
	if len(job.Workspace) == 1 && job.Workspace[0].To == "" {
		job.Dir = job.Workspace[0].From
		return func() {}, nil
	}
	return a.copyWorkspaces(ctx, p.store, job)
}

// keepWorkspaces keeps those of all roles.
func (a *app) keepWorkspaces(ctx context.Context, keeper *workspace.Keeper, app *runner.App) error {
	for i := range app.Roles {
		for k := range app.Roles[i].Workspace {
			if err := a.keepWorkspace(ctx, keeper, &app.Roles[i].Workspace[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *app) keepWorkspace(ctx context.Context, keeper *workspace.Keeper, w *runner.WorkspaceDir) error {
	kept, err := keeper.KeepDir(ctx, w)
	if err != nil {
		return err
	}
	tree, sent := keeper.Tree(w.From), "known already"
	if !kept.Known {
		sent = count(kept.Sent, "object") + " sent"
	}
	a.note("heirloom: workspace %s: %s, %d bytes, %s (%s)", w.From, count(tree.Files, "file"), tree.Bytes, w.Digest[:12], sent)
	return nil
}

// copyWorkspaces lays the workspaces of a job out in a directory of its own.
func (a *app) copyWorkspaces(ctx context.Context, s *store.Store, job *runner.Job) (done func(), err error) {
	if job.Dir, err = os.MkdirTemp("", "heirloom-workspace-"); err != nil {
		return nil, err
	}
	laid, err := workspace.NewCopy(ctx, s, job.Workspace, job.Dir)
	if err != nil {
		_ = workspace.Remove(job.Dir)
		return nil, err
	}
	return func() {
		if laid.Changed(context.WithoutCancel(ctx)) {
			a.note("heirloom: what the command changed in the copy of its workspaces is kept: %s", laid.Dir)
			return
		}
		_ = laid.Remove()
	}, nil
}

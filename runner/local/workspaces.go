package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
)

// workspacesDir holds a directory for each role that starts from workspaces.
const workspacesDir = "workspaces"

// copies are the workspaces of an app where its replicas start, by role.
type copies map[string]*workspace.Copy

// layOut puts the workspaces of each role in a directory of its own, which all its
// replicas share, in all attempts.
func (l launch) layOut(ctx context.Context, s *store.Store, app *runner.App) (copies, error) {
	c := copies{}
	for i := range app.Roles {
		role := &app.Roles[i]
		if len(role.Workspace) == 0 {
			continue
		}
		made, err := workspace.NewCopy(ctx, s, role.Workspace, filepath.Join(l.dir, workspacesDir, store.EncodeRun(role.Name)))
		if err != nil {
			return nil, fmt.Errorf("lay out workspaces of role %s: %w", role.Name, err)
		}
		c[role.Name] = made
	}
	return c, nil
}

// dir is where a role starts; "" = where the plan says.
func (c copies) dir(role string) string {
	if made := c[role]; made != nil {
		return made.Dir
	}
	return ""
}

// settle removes what is as it was laid out, and says where the rest is.
func (c copies) settle(ctx context.Context) (string, error) {
	var kept []string
	var errs []error
	for _, role := range slices.Sorted(maps.Keys(c)) {
		if c[role].Changed(ctx) {
			kept = append(kept, c[role].Dir)
			continue
		}
		errs = append(errs, c[role].Remove())
	}
	if kept == nil {
		return "", errors.Join(errs...)
	}
	return "what the app changed in the copy of its workspaces is kept: " + strings.Join(kept, ", "), errors.Join(errs...)
}

// place makes a job of the plan start in its workspaces.
func (c copies) place(job *runner.Job, plan *runner.Plan, request Request, prependCWD bool) {
	if len(c) == 0 {
		return
	}
	for i := range plan.App.Roles {
		job.Workspace = append(job.Workspace, plan.App.Roles[i].Workspace...)
	}
	job.RoleDir = c.dir
	if len(job.Args) > 0 {
		role := plan.App.Roles[0]
		shown := macrosOf(plan, cmp.Or(c.dir(role.Name), plan.Dir), 0).Apply(role)
		job.Args = append([]string{shown.Entrypoint}, shown.Args...)
	}
	if prependCWD {
		job.ReplicaEnv = func(role string, k int) (map[string]string, error) {
			env, err := request.env(role, k)
			if dir := c.dir(role); dir != "" && err == nil && plan.App.Role(role).Env["PATH"] == "" {
				env = maps.Clone(env)
				if env == nil {
					env = map[string]string{}
				}
				env["PATH"] = dir + string(filepath.ListSeparator) + request.Path
			}
			return env, err
		}
	}
}

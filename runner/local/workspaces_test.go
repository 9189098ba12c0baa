//go:build linux

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// keptWorkspace keeps a directory with these files in the store.
func keptWorkspace(t *testing.T, url string, files map[string]string) runner.WorkspaceDir {
	t.Helper()
	s, err := store.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	w := runner.WorkspaceDir{From: t.TempDir()}
	for name, text := range files {
		path := filepath.Join(w.From, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := workspace.NewKeeper(s, nil).KeepDir(t.Context(), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWorkspacesOfRoles: each role starts in its own, programs and macros are found there,
// and what it changed stays until the app is deleted.
func TestWorkspacesOfRoles(t *testing.T) {
	s, url := newScheduler(t), t.TempDir()
	changer, reader := shRole("changer", 1, "cat who; echo 1 > ignored.log"), shRole("reader", 2, "")
	changed := []runner.WorkspaceDir{keptWorkspace(t, url, map[string]string{"who": "changer", ".gitignore": "*.log\n"})}
	read := []runner.WorkspaceDir{keptWorkspace(t, url, map[string]string{"who": "reader", "bin/say": "#!/bin/sh\nmkdir -p __pycache__\ncat \"$1/who\"; pwd\n"})}
	reader.Entrypoint, reader.Args = "bin/say", []string{"${img_root}"}
	plan, err := planned(t, s, nil, changer, reader)
	if err != nil {
		t.Fatal(err)
	}
	plan.Recording.Store = url
	plan.App.Roles[0].Workspace, plan.App.Roles[1].Workspace = changed, read
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	status := waited(t, s, plan.Handle)
	dir := filepath.Join(s.appDir(plan.Handle), "1", workspacesDir)
	if status.State != tracker.Succeeded || !strings.HasSuffix(status.Message, "is kept: "+filepath.Join(dir, "changer")) {
		t.Fatalf("%s: %s", status.State, status.Message)
	}
	if exists(filepath.Join(dir, "reader")) || !exists(filepath.Join(dir, "changer", "ignored.log")) {
		t.Error("what was not changed stayed, or what was changed is gone")
	}
	for role, want := range map[string]string{"changer": "changer", "reader": "reader" + filepath.Join(dir, "reader")} {
		if got := linesOf(t, s, plan.Handle, runner.LogQuery{Role: role, Replicas: []int{0}}); !slices.Equal(got, []string{want + "\n"}) {
			t.Errorf("%s wrote %q, want %q", role, got, want)
		}
	}
	if err := s.Delete(t.Context(), plan.Handle, runner.CancelOptions{}); err != nil || exists(s.appDir(plan.Handle)) {
		t.Errorf("delete: %v", err)
	}
}

// TestWorkspaceThatIsGone: without its workspace an app does not start, and leaves nothing.
func TestWorkspaceThatIsGone(t *testing.T) {
	s := newScheduler(t)
	plan, err := planned(t, s, nil, shRole("a", 1, "exit 0"))
	if err != nil {
		t.Fatal(err)
	}
	plan.Recording.Store = t.TempDir()
	plan.App.Roles[0].Workspace = []runner.WorkspaceDir{{From: "/gone", Digest: store.DigestOf([]byte("gone"))}}
	if _, err := s.Submit(t.Context(), plan); err == nil || !strings.Contains(err.Error(), "role a") {
		t.Fatalf("submit: %v", err)
	}
	if exists(s.appDir(plan.Handle)) {
		t.Error("the state stayed")
	}
}

//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

var _ runner.Workspaces = (*Keeper)(nil)

func TestKeeper(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "1", 0o644)
	s := openStore(t, filepath.Join(dir, ".heirloom"), nil)
	check(t, s.Put(t.Context(), "runs/x", []byte("x")))
	role := &runner.Role{Workspace: []runner.WorkspaceDir{{From: dir, To: "code/"}}}
	check(t, NewKeeper(s, nil).Measure(t.Context(), nil, role))
	digest := role.Workspace[0].Digest
	if _, err := Load(t.Context(), s, digest); !errors.Is(err, store.ErrNotExist) {
		t.Errorf("measuring stored it: %v", err)
	}
	check(t, NewKeeper(s, nil).Keep(t.Context(), nil, role))
	target := filepath.Join(t.TempDir(), "r")
	check(t, Place(t.Context(), s, role.Workspace, target))
	if got := contents(t, target); !slices.Equal(got, []string{"code/a=1"}) {
		t.Errorf("placed %q", got)
	}
	check(t, os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644))
	if err := NewKeeper(s, nil).Keep(t.Context(), nil, role); !errors.Is(err, store.ErrConflict) {
		t.Errorf("changed since it was planned: %v", err)
	}
}

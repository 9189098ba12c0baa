package workspace

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Keeper keeps the workspaces of plans in a store: it is runner.Workspaces. It is
// used by one goroutine.
type Keeper struct {
	Store   *store.Store
	Options *Options // nil = the defaults
	trees   map[string]*Tree
}

// NewKeeper keeps workspaces in s; opts may be nil. The store itself is left out of
// them where it lies in one.
func NewKeeper(s *store.Store, opts *Options) *Keeper {
	if opts == nil {
		opts = &Options{}
	}
	if dir, ok := s.LocalPath(""); ok {
		opts = &Options{Exclude: append([]string{dir}, opts.Exclude...)}
	}
	return &Keeper{Store: s, Options: opts, trees: map[string]*Tree{}}
}

// Measure scans the directories of a role and sets their digests.
func (k *Keeper) Measure(ctx context.Context, _ *runner.Plan, role *runner.Role) error {
	for i := range role.Workspace {
		if _, err := k.scan(ctx, &role.Workspace[i]); err != nil {
			return err
		}
	}
	return nil
}

// Keep stores what Measure saw. A file that is another by now is store.ErrConflict.
func (k *Keeper) Keep(ctx context.Context, _ *runner.Plan, role *runner.Role) error {
	for i := range role.Workspace {
		if _, err := k.KeepDir(ctx, &role.Workspace[i]); err != nil {
			return err
		}
	}
	return nil
}

// KeepDir stores one directory, scanned now unless it was before, and sets its
// digest.
func (k *Keeper) KeepDir(ctx context.Context, w *runner.WorkspaceDir) (Kept, error) {
	planned := w.Digest
	tree, err := k.scan(ctx, w)
	if err != nil {
		return Kept{}, err
	}
	if planned != "" && planned != tree.Digest {
		return Kept{}, fmt.Errorf("workspace %s has changed since the run was planned: %w", w.From, store.ErrConflict)
	}
	return tree.Keep(ctx, k.Store)
}

func (k *Keeper) scan(ctx context.Context, w *runner.WorkspaceDir) (*Tree, error) {
	from, err := filepath.Abs(w.From)
	if err == nil {
		w.From = from
		w.To, err = CleanPlace(w.To)
	}
	if err != nil {
		return nil, err
	}
	tree := k.trees[w.From]
	if tree == nil {
		if tree, err = Scan(ctx, w.From, k.Options); err != nil {
			return nil, err
		}
		k.trees[w.From] = tree
	}
	w.Digest = tree.Digest
	return tree, nil
}

// Tree is what was scanned of a directory, nil if nothing was.
func (k *Keeper) Tree(from string) *Tree { return k.trees[from] }

// Place lays workspaces out in an empty directory, which is made if it is missing.
func Place(ctx context.Context, s *store.Store, list []runner.WorkspaceDir, dir string) error {
	placed := make([]Placed, len(list))
	for i, w := range list {
		placed[i] = Placed{Digest: w.Digest, To: w.To}
	}
	return RestoreAll(ctx, s, placed, dir)
}

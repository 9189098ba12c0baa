package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Copy is workspaces as they were laid out for a job to start in.
type Copy struct {
	Dir    string
	before []Entry
}

// NewCopy lays workspaces out as [Place] does, and remembers what that made.
func NewCopy(ctx context.Context, s *store.Store, list []runner.WorkspaceDir, dir string) (*Copy, error) {
	if err := Place(ctx, s, list, dir); err != nil {
		return nil, err
	}
	entries, err := everything(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Copy{dir, entries}, nil
}

// Changed says whether the copy holds something else by now. What ignore files name
// counts, as outputs may be among it; what Python caches beside its sources does not.
// A copy that can no longer be read has changed.
func (c *Copy) Changed(ctx context.Context) bool {
	after, err := everything(ctx, c.Dir)
	return err != nil || !slices.Equal(c.before, after)
}

// Remove removes the copy.
func (c *Copy) Remove() error { return Remove(c.Dir) }

func everything(ctx context.Context, dir string) ([]Entry, error) {
	tree, err := Scan(ctx, dir, &Options{all: true})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tree.Entries, func(e Entry) bool {
		return slices.Contains(strings.Split(e.Path, "/"), "__pycache__")
	}), nil
}

// Remove removes a directory and all below it, also where directories may not be
// written to. That there is none is no error.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	return os.RemoveAll(dir)
}

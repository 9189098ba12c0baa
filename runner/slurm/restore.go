package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/heirloom-ml/heirloom/store"
)

// restore puts the workspaces of all roles in place, once for all attempts.
func (b *batch) restore(ctx context.Context) error {
	for i := range b.plan.App.Roles {
		role := &b.plan.App.Roles[i]
		if len(role.Workspace) == 0 {
			continue
		}
		if b.Restore == nil {
			return fmt.Errorf("role %s has a workspace, and nothing here restores workspaces: %w", role.Name, store.ErrUnsupported)
		}
		dir := b.workDir(role)
		if _, err := os.Stat(dir); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore workspace: %w", err)
		}
		temp := dir + ".new"
		if err := os.RemoveAll(temp); err != nil { // of an attempt that was cut short
			return fmt.Errorf("restore workspace: %w", err)
		}
		if err := os.MkdirAll(temp, 0o755); err != nil {
			return fmt.Errorf("restore workspace: %w", diskError(err))
		}
		if err := b.Restore(ctx, b.plan.Recording, role.Workspace, temp); err != nil {
			return fmt.Errorf("restore workspace of role %s: %w", role.Name, err)
		}
		if err := os.Rename(temp, dir); err != nil {
			return fmt.Errorf("restore workspace: %w", err)
		}
	}
	return nil
}

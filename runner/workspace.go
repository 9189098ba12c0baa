package runner

import (
	"context"

	"github.com/heirloom-ml/heirloom/store"
)

// WorkspaceDir is a directory of the submitting machine that the replicas of a
// role find again below the working directory in which they start.
type WorkspaceDir struct {
	From   string       `json:"from"`             // here; absolute once planned
	To     string       `json:"to,omitempty"`     // there, relative; "" = the working directory itself
	Digest store.Digest `json:"digest,omitempty"` // of what it holds, once a Workspaces has looked; "" = not yet
}

// Workspaces keeps workspaces. Plan calls Measure, which keeps nothing; Submit
// calls Keep.
type Workspaces interface {
	// Measure reads the directories of the role's workspace and sets their digests.
	Measure(ctx context.Context, plan *Plan, role *Role) error
	// Keep stores what Measure saw. The error has kind store.ErrConflict when the
	// directories hold something else by now.
	Keep(ctx context.Context, plan *Plan, role *Role) error
}

package local

import (
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
)

// noGroups is the value of the option cgroup that does without.
const noGroups = "none"

// groups finds where the replicas of an app get control groups. Where nothing is to be
// held to anything they only help, and nil does without. The error has kind
// store.ErrUnsupported.
func (c config) groups(app *runner.App) (*process.Cgroups, error) {
	var need process.Limits
	for i := range app.Roles {
		if c.Enforce {
			need.CPUs = max(need.CPUs, app.Roles[i].Resource.CPU)
			need.Memory = max(need.Memory, int64(app.Roles[i].Resource.MemMB)<<20)
		}
	}
	var found *process.Cgroups
	err := errors.New("cgroup=" + noGroups)
	if c.Cgroup != noGroups {
		found, err = process.FindCgroups(c.Cgroup, need)
	}
	switch {
	case err == nil:
		return found, nil
	case need != (process.Limits{}):
		return nil, fmt.Errorf("enforce_resources: nothing here holds replicas to their resources: %w; run under systemd-run --user --scope -p Delegate=yes, name a control group of yours by cgroup=DIR, or leave it out: %w",
			err, store.ErrUnsupported)
	case c.Cgroup != "" && c.Cgroup != noGroups:
		return nil, fmt.Errorf("cgroup: %w: %w", err, store.ErrUnsupported)
	}
	return nil, nil
}

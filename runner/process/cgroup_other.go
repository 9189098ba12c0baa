//go:build !linux

package process

import (
	"errors"
	"os/exec"
)

// Cgroups is a place where control groups are made; here there are none.
type Cgroups struct{}

// FindCgroups fails: control groups are Linux's.
func FindCgroups(string, Limits) (*Cgroups, error) {
	return nil, errors.New("this system has no control groups")
}

func (*Cgroups) make(Limits, func(string)) (*cgroup, error) { return nil, errors.ErrUnsupported }

type cgroup struct{ dir string }

func (*cgroup) enter(*exec.Cmd)   {}
func (*cgroup) outOfMemory() bool { return false }
func (*cgroup) remove()           {}

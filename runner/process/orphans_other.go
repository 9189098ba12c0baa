//go:build !linux

package process

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// Orphans are processes that fall to us; here none do.
type Orphans struct{}

// Adopt fails: orphans go to init here.
func Adopt() (*Orphans, error) { return nil, errors.ErrUnsupported }

func (*Orphans) start(cmd *exec.Cmd) error { return cmd.Start() }
func (*Orphans) forget(int)                {}

// Reap does nothing.
func (*Orphans) Reap() {}

// End does nothing.
func (*Orphans) End(context.Context, *Guard, time.Time) (left int, survivors []int) { return 0, nil }

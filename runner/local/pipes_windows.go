package local

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// On this system an app runs in the foreground alone, and only that process knows it.

func (l launch) makePipes() error { return nil }

func (l launch) hold() (*os.File, error) { return os.Open(os.DevNull) }

func (l launch) lives() bool { return false }

func (l launch) awaitGone(context.Context) error { return errors.ErrUnsupported }

type order struct {
	Cancel bool
	Grace  time.Duration
}

func (l launch) tell(order) (bool, error) { return false, errors.ErrUnsupported }

func (l launch) obey(context.CancelCauseFunc) (func(), error) { return func() {}, nil }

func detached() *syscall.SysProcAttr { return nil }

func closeOnExec(int) error { return errors.ErrUnsupported }

func renameNew(from, to string) error { return os.Rename(from, to) }

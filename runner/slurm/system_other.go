//go:build !unix

package slurm

import (
	"os"
	"syscall"
)

func lockFile(string) (unlock func(), err error) { return func() {}, nil }

func diskError(err error) error { return err }

// signalOf is the signal of that name; none is passed on here.
func signalOf(string) os.Signal { return nil }

func signalName(os.Signal) string { return "" }

func ownGroup() *syscall.SysProcAttr { return nil }

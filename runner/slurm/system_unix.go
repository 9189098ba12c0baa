//go:build unix

package slurm

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile waits for the lock of a file, which ends with the process at the latest.
// A file system without locks has none.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOLCK) {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// diskError gives an error of a full disk its kind.
func diskError(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return &noSpaceError{err}
	}
	return err
}

// signalOf is the signal of that name, nil if there is none.
func signalOf(name string) os.Signal {
	if n := unix.SignalNum(name); n != 0 {
		return n
	}
	return nil
}

// signalName is a signal's name, as "SIGUSR1".
func signalName(sig os.Signal) string {
	if s, ok := sig.(unix.Signal); ok {
		return unix.SignalName(s)
	}
	return ""
}

// ownGroup keeps what is sent to our group from a child.
func ownGroup() *unix.SysProcAttr { return &unix.SysProcAttr{Setpgid: true} }

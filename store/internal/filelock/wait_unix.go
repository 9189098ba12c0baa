//go:build !windows

package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Wait takes the exclusive lock of f once nobody else holds it. The system has those who wait queue up. When ctx ends
// first, the caller closes f, or it may still get the lock later.
func Wait(ctx context.Context, f *os.File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ok, err := Try(f); ok || err != nil {
		return err
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	taken := make(chan error, 1)
	go func() { // nothing interrupts the system's wait; it ends with the file's lock, and so with its close
		var err error
		control := conn.Control(func(fd uintptr) { err = flock(fd, unix.LOCK_EX) })
		taken <- errors.Join(control, err)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-taken:
		if err != nil {
			return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// Release gives the lock of f back before it is closed.
func Release(f *os.File) error {
	if err := flock(f.Fd(), unix.LOCK_UN); err != nil {
		return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return nil
}

func flock(fd uintptr, how int) error {
	for {
		if err := unix.Flock(int(fd), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

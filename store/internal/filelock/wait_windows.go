package filelock

import (
	"context"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const (
	pauseMin = time.Millisecond
	pauseMax = 20 * time.Millisecond
)

// Wait takes the exclusive lock of f once nobody else holds it, or returns the error of ctx.
func Wait(ctx context.Context, f *os.File) error {
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		ok, err := Try(f)
		if ok || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// Release gives the lock of f back before it is closed.
func Release(f *os.File) error {
	over := windows.Overlapped{OffsetHigh: 1 << 30} // where Try puts it
	if err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &over); err != nil {
		return &fs.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}

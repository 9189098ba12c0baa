package localblob

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const readFlags = os.O_RDONLY

// syncDirectory cannot be had: Windows flushes no directory handle that was opened for reading.
func syncDirectory(*os.File) error { return errors.ErrUnsupported }

// removeDir removes a directory if it is empty.
func removeDir(root *os.Root, dir string) error { return root.Remove(dir) }

// inode is not part of what Windows tells about a file without opening it.
func inode(fs.FileInfo) uint64 { return 0 }

// tryLock takes the exclusive lock of f, or says that another holds it.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// The lock lies far beyond the end of the file, for Windows would refuse reads of what is locked.
	over := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &over)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	if err != nil {
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}

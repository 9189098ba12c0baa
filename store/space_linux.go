package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// hasRoom is ErrNoSpace where the file system of f has less than size bytes left.
func hasRoom(f *os.File, size int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil || st.Blocks == 0 {
		return nil // one that does not tell is tried
	}
	if free := st.Bavail * uint64(st.Bsize); free < uint64(size) {
		return fmt.Errorf("%w: it needs %d bytes, %d are free", ErrNoSpace, size, free)
	}
	return nil
}

// reserve takes the room for size bytes, so that a full disk shows at once.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EFBIG) || errors.Is(err, unix.EDQUOT):
			return &os.PathError{Op: "reserve", Path: f.Name(), Err: err}
		}
		return f.Truncate(size) // not every file system can
	}
}

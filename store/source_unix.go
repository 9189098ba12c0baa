//go:build !windows

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// sourceFlags follow no link and do not wait at a pipe.
const sourceFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// stamp tells the states of a file apart.
type stamp struct {
	inode            uint64
	size             int64
	modified, status unix.Timespec
}

func stampOf(f *os.File) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return stamp{st.Ino, st.Size, st.Mtim, st.Ctim}, nil
}

package settle

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep a pipe from blocking us and a link from leading us astray.
const openFlags = unix.O_NONBLOCK | unix.O_NOFOLLOW

func changeOf(info fs.FileInfo) (changed int64, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), st.Ino
	}
	return 0, 0
}

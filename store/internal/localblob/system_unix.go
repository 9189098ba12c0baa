//go:build !windows

package localblob

import (
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"
)

// readFlags keep a pipe from blocking whoever opens it for an object.
const readFlags = os.O_RDONLY | unix.O_NONBLOCK

func syncDirectory(f *os.File) error { return f.Sync() }

// removeDir removes a directory if it is empty, and never a file that took its name.
func removeDir(root *os.Root, dir string) error {
	parent, err := openParent(root, dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := unix.Unlinkat(int(parent.Fd()), path.Base(dir), unix.AT_REMOVEDIR); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// inode returns the number by which the file system knows the file, 0 where it has none.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// isOwn says whether the file belongs to the user of this process.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasOtherNames reports whether the file has more names than one.
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

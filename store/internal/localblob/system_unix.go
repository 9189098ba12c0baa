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

const (
	// dirFlag refuses what is no directory.
	dirFlag = unix.O_DIRECTORY
	// fileFlag means nothing for a regular file, but spares package os from finding that out.
	fileFlag = unix.O_NONBLOCK
)

func link(n naming) error {
	return n.at("linkat", func(top, dir int) error { return unix.Linkat(top, n.temp, dir, path.Base(n.path), 0) })
}

// renameOver puts the file in place of what has the name.
func renameOver(n naming) error {
	return n.at("renameat", func(top, dir int) error { return unix.Renameat(top, n.temp, dir, path.Base(n.path)) })
}

// at does something with the numbers of the two directories.
func (n naming) at(op string, do func(top, dir int) error) error {
	err := control(n.top, func(top int) error {
		return control(n.dir, func(dir int) error { return do(top, dir) })
	})
	if err != nil {
		return &os.LinkError{Op: op, Old: n.temp, New: n.path, Err: err}
	}
	return nil
}

// control does something with the number of an open file, which keeps it meanwhile.
func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = do(int(fd)) })
	if err == nil {
		err = failed
	}
	return err
}

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

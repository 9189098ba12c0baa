package localblob

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// renameNew moves to a name that must be free.
func renameNew(n naming) error {
	return n.at("renameat2", func(top, dir int) error {
		return unix.Renameat2(top, n.temp, dir, path.Base(n.path), unix.RENAME_NOREPLACE)
	})
}

// openBelow opens what lies at p below the directory top of root, in one call of the system where that keeps to the
// same rules: links are followed as long as they stay inside.
func openBelow(root *os.Root, top *os.File, p string, flags int) (f *os.File, err error) {
	if !strings.Contains(p, "/") {
		return root.OpenFile(p, flags, 0)
	}
	err = control(top, func(fd int) error {
		how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
		below, err := unix.Openat2(fd, p, &how)
		if err == nil {
			f = os.NewFile(uintptr(below), filepath.Join(root.Name(), p))
		}
		return err
	})
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.ENOENT):
		return nil, &os.PathError{Op: "openat2", Path: p, Err: err}
	}
	return root.OpenFile(p, flags, 0) // of an old system, or to tell what is wrong
}

// networkMagics are the file systems whose appends and locks another machine may not see in order, by numbers of 32
// bits, to which some architectures give a sign.
var networkMagics = []uint32{unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
	unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC}

// appendsInOrder says whether the file system of dir keeps appends and locks whole among all who mount it.
func appendsInOrder(dir *os.File) (bool, error) {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &stat); err != nil {
		return false, errors.Join(&os.PathError{Op: "statfs", Path: dir.Name(), Err: err})
	}
	for _, magic := range networkMagics {
		if uint32(stat.Type) == magic {
			return false, nil
		}
	}
	return true, nil
}

// startWriteback lets the disk begin with what was written, without waiting for it.
func startWriteback(f *os.File, offset, length int64) {
	const begin = 2                                            // SYNC_FILE_RANGE_WRITE
	_ = unix.SyncFileRange(int(f.Fd()), offset, length, begin) // only saves time later
}

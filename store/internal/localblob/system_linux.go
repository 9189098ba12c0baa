package localblob

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew moves from, which lies in the root itself, to a name that must be free.
func renameNew(root *os.Root, from, to string) error {
	source, err := root.Open(".")
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := openParent(root, to)
	if err != nil {
		return err
	}
	defer target.Close()
	err = unix.Renameat2(int(source.Fd()), from, int(target.Fd()), path.Base(to), unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: from, New: to, Err: err}
	}
	return nil
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

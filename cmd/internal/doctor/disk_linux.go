package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DiskAt asks the system about the file system of a directory that exists.
func DiskAt(path string) (Disk, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return Disk{}, fmt.Errorf("statfs %s: %w", path, err)
	}
	return Disk{Kind: kindOfMagic(uint32(s.Type)), Free: s.Bavail * uint64(s.Bsize)}, nil
}

// kindOfMagic names the numbers of statfs(2), which have 32 bits and on some architectures a sign.
func kindOfMagic(magic uint32) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case 0x2fc12fc1:
		return "zfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "cifs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	}
	return ""
}

package localblob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// What is read often is read with the fewest calls of the system, past package os, which looks at each directory on the
// way and at each name. Where a call fails, the caller does the same with package os, and learns there what is wrong.

const (
	direntsBytes = 64 << 10 // read from a directory at a time
	// Offsets in a linux_dirent64: the inode and a position come first.
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// openRaw opens what lies at p below top, as openBelow does, and returns its number.
func openRaw(top *os.File, p string, flags, resolve uint64) (below int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | resolve}
	err = control(top, func(fd int) error {
		below, err = unix.Openat2(fd, p, &how)
		return err
	})
	return below, err
}

// readDirBelow reads the directory at p, to be reached through directories alone; false if that did not succeed.
func (b *Bucket) readDirBelow(root *os.Root, top *os.File, p string) ([]dirtree.Name, bool) {
	fd, err := openRaw(top, p, unix.O_RDONLY|unix.O_DIRECTORY, unix.RESOLVE_NO_SYMLINKS)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil, true
	case err != nil:
		return nil, false
	}
	defer unix.Close(fd) // only read
	buf, _ := b.dirents.Get().(*[direntsBytes]byte)
	if buf == nil {
		buf = new([direntsBytes]byte)
	}
	defer b.dirents.Put(buf)
	var names []dirtree.Name
	for {
		n, err := unix.Getdents(fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOENT) && len(names) == 0: // it was removed
			return nil, true
		case err != nil:
			return nil, false
		case n <= 0:
			return names, true
		}
		found, ok := readNames(root, fd, p, buf[:n])
		if !ok {
			return nil, false
		}
		names = append(names, found...)
	}
}

// readNames makes of entries of the directory at p, open as fd, what the listing wants.
func readNames(root *os.Root, fd int, p string, entries []byte) ([]dirtree.Name, bool) {
	names := make([]dirtree.Name, 0, len(entries)/48)
	for len(entries) > 0 {
		length := binary.NativeEndian.Uint16(entries[direntLength:])
		kind := entries[direntType]
		name, _, _ := bytes.Cut(entries[direntName:length], []byte{0})
		entries = entries[length:]
		elem := string(name)
		if elem == "." || elem == ".." || isForeign(p, elem) {
			continue
		}
		n, ok, err := readName(root, fd, p, elem, kind)
		if err != nil {
			return nil, false
		}
		if ok {
			names = append(names, n)
		}
	}
	return names, true
}

// readName describes one name; false for what is no object and no directory.
func readName(root *os.Root, fd int, p, name string, kind byte) (n dirtree.Name, ok bool, err error) {
	n.Elem = escape().Elem(name)
	var stat unix.Stat_t
	if kind == unix.DT_REG || kind == unix.DT_UNKNOWN {
		err := unix.Fstatat(fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.ENOENT) {
			return n, false, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	switch {
	case kind == unix.DT_DIR, stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		n.IsDir = true
		return n, true, nil
	case stat.Mode&unix.S_IFMT == unix.S_IFREG:
		n.Object = rawObject("", &stat)
		return n, true, nil
	case kind == unix.DT_LNK, stat.Mode&unix.S_IFMT == unix.S_IFLNK:
		n.Stat = func() (dirtree.Object, bool, error) { return linked(root, path.Join(p, name)) }
		return n, true, nil
	}
	return n, false, nil
}

func rawObject(key string, stat *unix.Stat_t) dirtree.Object {
	modified := time.Unix(stat.Mtim.Unix())
	return dirtree.Object{Key: key, Size: stat.Size, ModTime: modified, Version: version(stat.Ino, modified.UnixNano(), stat.Size)}
}

// readBelow reads the whole file at p; false if that did not succeed, or there is no regular file.
func readBelow(top *os.File, p string) ([]byte, bool) {
	fd, err := openRaw(top, p, uint64(readFlags), 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd) // only read
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Size > maxRawBytes {
		return nil, false
	}
	body := make([]byte, stat.Size+1) // one more, to see that the file ends
	n, err := unix.Read(fd, body)
	return body[:max(n, 0)], err == nil && int64(n) == stat.Size
}

// maxRawBytes bounds what is read in one call; of what is longer, one call may read less.
const maxRawBytes = 1 << 20

// existsBelow says whether there is anything at p, below directories or links; ok is false if that cannot be told.
func existsBelow(top *os.File, p string) (exists, ok bool) {
	var stat unix.Stat_t
	err := control(top, func(fd int) error { return unix.Fstatat(fd, p, &stat, unix.AT_SYMLINK_NOFOLLOW) })
	gone := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
	return err == nil, err == nil || gone
}

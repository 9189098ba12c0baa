package settle

import (
	"errors"
	"io/fs"
	"os"
)

// Identity changes whenever the bytes of a file may have, save where two writes
// of one length fall into one tick of the file system's clock.
type Identity struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime_ns"` // nanoseconds since the Unix epoch
	Changed  int64  `json:"ctime_ns"` // the same, of bytes or name; 0 where the system has none
	Inode    uint64 `json:"inode"`    // 0 where the system has none
}

// IdentityOf reads what Stat said.
func IdentityOf(info fs.FileInfo) Identity {
	changed, inode := changeOf(info)
	return Identity{Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: changed, Inode: inode}
}

// ErrSpecial says that a name is not a regular file.
var ErrSpecial = errors.New("not a regular file")

// Open opens a regular file for reading and never waits: a pipe or a link that
// took its place since it was listed is ErrSpecial.
func Open(path string) (*os.File, Identity, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, Identity{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	if err != nil {
		return nil, Identity{}, errors.Join(err, f.Close())
	}
	return f, IdentityOf(info), nil
}

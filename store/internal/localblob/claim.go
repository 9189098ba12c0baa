package localblob

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

// lockStripes is how many files the locks of all names share.
const lockStripes = 256

// claimLocked looks whether the name is free and renames, under a lock of this machine that all processes of this user
// take for the name, and that ends with the process that holds it. It is for file systems that refuse both in one
// step. Another machine may take the name in between.
func (w *Writer) claimLocked(n naming) error {
	release, err := w.b.turn(w.ctx, w.path)
	if err != nil {
		return err
	}
	defer release()
	f, err := w.b.lockFile(w.path)
	if err != nil {
		return err
	}
	defer f.Close() // which ends the lock
	if err := filelock.Wait(w.ctx, f); err != nil {
		return err
	}
	_, err = w.root.Lstat(w.path)
	switch {
	case err == nil:
		return &fs.PathError{Op: "create", Path: w.path, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return w.rename(n)
}

// lockFile opens the lock of a name of this bucket, in a directory that this user alone can write to.
func (b *Bucket) lockFile(p string) (*os.File, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("heirloom-locks-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !isOwn(info) {
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: fmt.Errorf("someone else's: %w", fs.ErrPermission)}
	}
	sum := fnv.New32a()
	sum.Write([]byte(filepath.Join(b.dir, p))) // never fails
	return os.OpenFile(filepath.Join(dir, fmt.Sprintf("%02x", sum.Sum32()%lockStripes)), os.O_RDWR|os.O_CREATE, 0o600)
}

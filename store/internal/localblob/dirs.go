package localblob

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// syncedLimit bounds the directories remembered as durable; beyond it the memory starts afresh.
const syncedLimit = 1 << 14

// makeDir makes dir and what is missing above it. When it returns, the entries of all of them are on disk, also
// of those that another writer has only just made: a durable file in a directory that power loss takes away
// would be no promise. Each directory costs that once in a process.
func (b *Bucket) makeDir(root *os.Root, dir string) error {
	if dir == "." || b.isSynced(dir) {
		return nil
	}
	parent := path.Dir(dir)
	if err := b.makeDir(root, parent); err != nil {
		return err
	}
	err := root.Mkdir(dir, b.dirMode())
	switch {
	case err == nil:
		if err := b.shareDir(root, dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	default:
		if info, err := root.Stat(dir); err != nil {
			return err
		} else if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	if err := b.syncDir(root, parent); err != nil {
		return err
	}
	b.setSynced(dir)
	return nil
}

func (b *Bucket) dirMode() fs.FileMode {
	if b.isGroup() {
		return 0o770
	}
	return 0o750
}

// shareDir gives a new directory below a group's directory the mode that the umask took from it.
func (b *Bucket) shareDir(root *os.Root, dir string) error {
	if !b.isGroup() {
		return nil
	}
	return root.Chmod(dir, 0o770|fs.ModeSetgid)
}

func (b *Bucket) isGroup() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.group
}

func (b *Bucket) isSynced(p string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.synced[p]
}

func (b *Bucket) setSynced(p string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.synced) >= syncedLimit {
		clear(b.synced)
	}
	b.synced[p] = true
}

// forget drops what is remembered of a path and of all below it, which someone has removed.
func (b *Bucket) forget(p string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for known := range b.synced {
		if known == p || strings.HasPrefix(known, p+"/") {
			delete(b.synced, known)
		}
	}
}

// prune removes dir and the directories above it as far as they are empty, and returns the first that is not.
func (b *Bucket) prune(root *os.Root, dir string) string {
	for dir != "." && removeDir(root, dir) == nil {
		b.forget(dir)
		dir = path.Dir(dir)
	}
	return dir
}

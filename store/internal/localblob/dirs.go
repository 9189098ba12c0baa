package localblob

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// syncedLimit bounds the directories remembered as durable; beyond it the memory starts afresh.
const syncedLimit = 1 << 14

// opened returns the directory that some method has opened before, as a root and as a file.
func (b *Bucket) opened() (*os.Root, *os.File) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.root, b.top
}

// makeDir makes dir and what is missing above it, and returns those of them whose entry is not known to be on disk, the
// topmost first: also what another writer has only just made. The caller hands them to syncPath once the file has its
// name, so that one commit of the file system's journal serves for all.
func (b *Bucket) makeDir(root *os.Root, dir string) (fresh []string, err error) {
	if dir == "." || b.isSynced(dir) {
		return nil, nil
	}
	if fresh, err = b.makeDir(root, path.Dir(dir)); err != nil {
		return nil, err
	}
	err = root.Mkdir(dir, b.dirMode())
	switch {
	case err == nil:
		if err := b.shareDir(root, dir); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	default:
		if info, err := root.Stat(dir); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return append(fresh, dir), nil
}

// syncPath makes the entries of dir durable, and the entries of the fresh directories above it: a durable file in a
// directory that power loss takes away would be no promise. Each directory costs that once in a process.
func (b *Bucket) syncPath(root *os.Root, dir string, fresh []string) error {
	if err := b.syncDir(root, dir); err != nil {
		return err
	}
	return b.syncFresh(root, fresh)
}

// syncFresh is the second part of that.
func (b *Bucket) syncFresh(root *os.Root, fresh []string) error {
	for _, made := range slices.Backward(fresh) {
		if err := b.syncDir(root, path.Dir(made)); err != nil {
			return err
		}
	}
	for _, made := range fresh {
		b.setSynced(made)
	}
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

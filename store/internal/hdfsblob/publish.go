package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

const (
	// maxTries bounds how often a write makes its directory again because a concurrent Delete removed it as empty.
	maxTries = 100
	// maxLost bounds how often a rename is tried that finds no NameNode, the tries being a pause apart.
	maxLost = 4
)

// unsureWrite is a Create of which it is not known whether it was applied.
type unsureWrite struct {
	id     string // the caller's
	object uint64 // the inode's number
}

// publish gives the closed temporary file its name. Where an answer is lost, the number of the inode tells whether
// the rename was applied, since it goes with the file.
func (b *Bucket) publish(ctx context.Context, made inode, temp, dst string, mode dirtree.Mode, id string) error {
	lost, pause := 0, firstPause
	for range maxTries {
		err := b.with(ctx, "write", dst, func(c *client) error { return c.rename(temp, dst, mode == dirtree.Replace) })
		if err == nil {
			return nil
		}
		if errors.Is(err, dirtree.ErrUnavailable) {
			if lost++; lost > maxLost || wait(ctx, pause) != nil {
				b.keepUnsure(dst, unsureWrite{id, made.id})
				return err
			}
			pause *= 4
			continue
		}
		again, err := b.explain(ctx, made, temp, dst, mode, err)
		if !again {
			return err
		}
	}
	return &dirtree.Error{Op: "write", Path: dst, Kind: dirtree.ErrUnavailable, Err: fmt.Errorf("its directory was removed %d times", maxTries)}
}

// explain looks why the NameNode refused to rename: because an earlier try was applied, the key is taken, its
// directory is missing, which it then makes to have the rename tried again, or a file or directory is in the way.
func (b *Bucket) explain(ctx context.Context, made inode, temp, dst string, mode dirtree.Mode, refused error) (again bool, err error) {
	err = b.with(ctx, "write", dst, func(c *client) error {
		again = false
		info, err := c.Stat(dst)
		if err = absent(err); err != nil && !isAbsent(err) {
			return err
		}
		switch {
		case err == nil && newInode(info).id == made.id:
			return nil
		case err == nil && info.IsDir():
			return fmt.Errorf("%w: %w", fs.ErrInvalid, syscall.EISDIR)
		case mode == dirtree.Create && errors.Is(kindOf(refused), fs.ErrExist):
			return refused
		case !isAbsent(refused):
			return c.inTheWay(path.Dir(dst), refused)
		}
		if _, err := c.statFile(temp); err != nil {
			return fmt.Errorf("%w: the temporary file is gone", dirtree.ErrUnavailable)
		}
		again = true
		return c.makeDir(path.Dir(dst))
	})
	return again && err == nil, err
}

// makeDir makes a directory and what is missing above it.
func (c *client) makeDir(dir string) error {
	err := c.MkdirAll(dir, c.bucket.dirPerm)
	if err == nil {
		return nil
	}
	return c.denied(c.inTheWay(dir, err), dir, toWrite)
}

// inTheWay tells whether a file stands where a directory is needed, else gives refused.
func (c *client) inTheWay(dir string, refused error) error {
	for ; dir != "/"; dir = path.Dir(dir) {
		info, err := c.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%w: %s: %w", fs.ErrInvalid, dir, syscall.ENOTDIR)
		}
		if err == nil {
			break
		}
	}
	return refused
}

func (b *Bucket) keepUnsure(dst string, w unsureWrite) {
	if w.id == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsure[dst] = w
}

// WriteID is the id of the Create that made the object at key, if that Create failed with ErrUnavailable in this
// bucket, "" else.
func (b *Bucket) WriteID(ctx context.Context, key string) (string, error) {
	now, err := b.stat(ctx, key)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.unsure[b.Path(key)]
	delete(b.unsure, b.Path(key))
	if w.object != now.id {
		return "", nil
	}
	return w.id, nil
}

package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// inode is an object with the number that the NameNode has for it and never gives twice. Its time is in milliseconds,
// its Version that number, the time and the size, so that no two objects of a cluster share it.
type inode struct {
	dirtree.Object
	id uint64
}

// newInode is without a key.
func newInode(info fs.FileInfo) inode {
	status, _ := info.Sys().(*hdfs.FileStatus) // as the library says; nil has the zero value of everything
	return inodeOf(status)
}

func inodeOf(status *hdfs.FileStatus) inode {
	id, size, modified := status.GetFileId(), int64(status.GetLength()), time.UnixMilli(int64(status.GetModificationTime())).UTC()
	version := fmt.Sprintf("%x-%x-%x", id, modified.UnixMilli(), size)
	return inode{dirtree.Object{Size: size, ModTime: modified, Version: version}, id}
}

// Stat describes the object at key. A directory is none.
func (b *Bucket) Stat(ctx context.Context, key string) (dirtree.Object, error) {
	i, err := b.stat(ctx, key)
	return i.Object, err
}

func (b *Bucket) stat(ctx context.Context, key string) (i inode, err error) {
	path := b.Path(key)
	err = b.with(ctx, "stat", path, func(c *client) (err error) {
		i, err = c.statFile(path)
		return err
	})
	i.Key = key
	return i, err
}

// statFile is fs.ErrNotExist for a directory too, and below a file.
func (c *client) statFile(path string) (inode, error) {
	info, err := c.Stat(path)
	if err != nil {
		return inode{}, c.denied(absent(err), path, toRead)
	}
	if info.IsDir() {
		return inode{}, &fs.PathError{Op: "stat", Path: path, Err: fmt.Errorf("a directory, no object: %w", fs.ErrNotExist)}
	}
	return newInode(info), nil
}

// absent makes absence of the exception for a path below a file.
func absent(err error) error {
	if remote, ok := errors.AsType[exception](err); ok && className(remote.Exception()) == "ParentNotDirectoryException" {
		return errors.Join(fs.ErrNotExist, errors.New(said(remote)))
	}
	return err
}

func isAbsent(err error) bool { return errors.Is(kindOf(err), fs.ErrNotExist) }

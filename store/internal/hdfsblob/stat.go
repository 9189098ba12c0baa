package hdfsblob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// Object describes what is stored under one key.
type Object struct {
	Key     string
	Size    int64     // bytes
	ModTime time.Time // in milliseconds
	// Version is the inode's number, its time and its size. A number is never given twice, so that no two objects
	// of a cluster share it.
	Version string
	id      uint64
}

// newObject is without a key.
func newObject(info fs.FileInfo) Object {
	status, _ := info.Sys().(*hdfs.FileStatus) // as the library says; nil has the zero value of everything
	return objectOf(status)
}

func objectOf(status *hdfs.FileStatus) Object {
	o := Object{
		Size:    int64(status.GetLength()),
		ModTime: time.UnixMilli(int64(status.GetModificationTime())).UTC(),
		id:      status.GetFileId(),
	}
	o.Version = fmt.Sprintf("%x-%x-%x", o.id, o.ModTime.UnixMilli(), o.Size)
	return o
}

// Stat describes the object at key. A directory is none.
func (b *Bucket) Stat(ctx context.Context, key string) (Object, error) {
	o, err := b.statPath(ctx, b.Path(key))
	o.Key = key
	return o, err
}

func (b *Bucket) statPath(ctx context.Context, path string) (o Object, err error) {
	err = b.with(ctx, "stat", path, func(c *client) (err error) {
		o, err = c.statFile(path)
		return err
	})
	return o, err
}

// statFile is fs.ErrNotExist for a directory too, and below a file.
func (c *client) statFile(path string) (Object, error) {
	info, err := c.Stat(path)
	if err != nil {
		return Object{}, c.denied(absent(err), path, toRead)
	}
	if info.IsDir() {
		return Object{}, &fs.PathError{Op: "stat", Path: path, Err: fmt.Errorf("a directory, no object: %w", fs.ErrNotExist)}
	}
	return newObject(info), nil
}

// absent makes absence of the exception for a path below a file.
func absent(err error) error {
	if remote, ok := errors.AsType[exception](err); ok && className(remote.Exception()) == "ParentNotDirectoryException" {
		return errors.Join(fs.ErrNotExist, errors.New(said(remote)))
	}
	return err
}

func isAbsent(err error) bool { return errors.Is(kindOf(err), fs.ErrNotExist) }

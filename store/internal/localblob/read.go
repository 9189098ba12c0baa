package localblob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"syscall"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// newObject has a version of inode, modification time and size, which differs from that of any other content the key had.
func newObject(key string, info fs.FileInfo) dirtree.Object {
	return dirtree.Object{
		Key: key, Size: info.Size(), ModTime: info.ModTime(),
		Version: version(inode(info), info.ModTime().UnixNano(), info.Size()),
	}
}

func version(inode uint64, modified, size int64) string {
	text := strconv.AppendUint(make([]byte, 0, 48), inode, 16)
	text = strconv.AppendInt(append(text, '-'), modified, 16)
	return string(strconv.AppendInt(append(text, '-'), size, 16))
}

// ReadFile reads the whole object at key.
func (b *Bucket) ReadFile(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := b.reader(); err != nil {
		return nil, err
	}
	_, top := b.opened()
	if body, ok := readBelow(top, pathOf(key)); ok {
		return body, nil
	}
	f, o, err := b.OpenFile(ctx, key)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body := make([]byte, o.Size)
	if _, err := io.ReadFull(f, body); err != nil {
		return nil, err
	}
	return body, nil
}

// OpenFile opens the object at key for reading. What it reads stays the same when the key is replaced or
// deleted meanwhile. The caller closes the file.
func (b *Bucket) OpenFile(ctx context.Context, key string) (*os.File, dirtree.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, dirtree.Object{}, err
	}
	root, err := b.reader()
	if err != nil {
		return nil, dirtree.Object{}, err
	}
	p := pathOf(key)
	_, top := b.opened()
	f, err := openBelow(root, top, p, readFlags)
	if err != nil {
		return nil, dirtree.Object{}, readError(p, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(p, info)
	}
	if err != nil {
		return nil, dirtree.Object{}, errors.Join(err, f.Close())
	}
	return f, newObject(key, info), nil
}

// Stat describes the object at key.
func (b *Bucket) Stat(ctx context.Context, key string) (dirtree.Object, error) {
	if err := ctx.Err(); err != nil {
		return dirtree.Object{}, err
	}
	root, err := b.reader()
	if err != nil {
		return dirtree.Object{}, err
	}
	p := pathOf(key)
	info, err := root.Stat(p)
	if err != nil {
		return dirtree.Object{}, readError(p, err)
	}
	if err := checkRegular(p, info); err != nil {
		return dirtree.Object{}, err
	}
	return newObject(key, info), nil
}

func (b *Bucket) remove(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := b.reader()
	if err != nil {
		return err
	}
	p := pathOf(key)
	info, err := root.Lstat(p)
	if err != nil {
		return readError(p, err)
	}
	if info.IsDir() {
		return &fs.PathError{Op: "delete", Path: p, Err: fs.ErrNotExist}
	}
	if err := root.Remove(p); err != nil {
		return readError(p, err)
	}
	b.forget(p)
	err = b.syncDir(root, b.prune(root, path.Dir(p)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another Delete removed that directory too
	}
	return err
}

// checkRegular refuses what is not an object.
func checkRegular(p string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return &fs.PathError{Op: "open", Path: p, Err: fmt.Errorf("not a regular file: %w", fs.ErrInvalid)}
}

// readError gives absence one form: a key below an object is absent too.
func readError(p string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return outside(p, err)
}

// outside tells a path that leads out of the directory, which package os reports by an error of its own, as a
// matter of permission.
func outside(p string, err error) error {
	var number syscall.Errno
	if errors.As(err, &number) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return err
	}
	return &fs.PathError{Op: "open", Path: p, Err: fmt.Errorf("%w: %w", fs.ErrPermission, err)}
}

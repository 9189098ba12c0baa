package hdfsblob

import (
	"context"
	"iter"

	"github.com/colinmarc/hdfs/v2"
	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// isDir is the type of a directory in a FileStatus.
const isDir = 1

// Walk is that of dirtree.
func (b *Bucket) Walk(ctx context.Context, prefix string) iter.Seq2[dirtree.Object, error] {
	return b.WalkAfter(ctx, prefix, "")
}

// WalkAfter is that of dirtree.
func (b *Bucket) WalkAfter(ctx context.Context, prefix, after string) iter.Seq2[dirtree.Object, error] {
	return dirtree.ReadFunc(b.readDir).WalkAfter(ctx, prefix, after)
}

// ReadDir is that of dirtree. A directory in which there is nothing is left out.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[dirtree.Entry, error] {
	return dirtree.ReadFunc(b.readDir).ReadDir(ctx, dir)
}

// ListPaged implements driver.Bucket.
func (b *Bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	return dirtree.ReadFunc(b.readDir).ListPaged(ctx, opts)
}

// readDir gives the names in the directory of a key that is "" or ends in "/". Their order is the NameNode's, to which
// bytes are signed numbers.
func (b *Bucket) readDir(ctx context.Context, key string) (names []dirtree.Name, err error) {
	at := b.root
	if key != "" {
		at = b.Path(key[:len(key)-1])
	}
	err = b.with(ctx, "list", at, func(c *client) error {
		names = nil
		return c.list(at, "", func(status *hdfs.FileStatus) bool {
			if n, ok := newName(status); ok {
				names = append(names, n)
			}
			return true
		})
	})
	return names, err
}

// newName passes over temporary files, uploads, symbolic links and directories with nothing in them.
func newName(status *hdfs.FileStatus) (dirtree.Name, bool) {
	name := string(status.GetPath())
	n := dirtree.Name{Elem: escape().Elem(name), IsDir: status.GetFileType() == isDir}
	if keyname.IsTemp(name) || len(status.GetSymlink()) > 0 {
		return n, false
	}
	if n.IsDir {
		return n, status.ChildrenNum == nil || status.GetChildrenNum() > 0
	}
	n.Object = inodeOf(status).Object
	return n, true
}

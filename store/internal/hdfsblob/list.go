package hdfsblob

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"

	"github.com/colinmarc/hdfs/v2"
	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/paging"
)

// isDir is the type of a directory in a FileStatus.
const isDir = 1

// Entry is one name in a directory: an object, or a directory, of which only Key is set.
type Entry struct {
	Object
	IsDir bool
}

// Walk lists every object whose key begins with prefix, sorted bytewise by key. Memory is that of the directories on
// the way. What cannot be read ends it with an error. What is created or deleted meanwhile may or may not appear; what
// existed throughout does.
func (b *Bucket) Walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return b.walk(ctx, &paging.Cursor{Prefix: prefix})
}

// ListPaged implements driver.Bucket.
func (b *Bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	walk := func(c *paging.Cursor) iter.Seq2[Object, error] { return b.walk(ctx, c) }
	return paging.Fill(opts, walk, func(o Object) *driver.ListObject {
		return &driver.ListObject{Key: o.Key, ModTime: o.ModTime, Size: o.Size}
	})
}

func (b *Bucket) walk(ctx context.Context, cursor *paging.Cursor) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		w := &walker{ctx: ctx, bucket: b, cursor: cursor, yield: yield}
		dir, _ := path.Split(cursor.Prefix)
		w.walk(dir)
	}
}

// ReadDir lists one level below dir ("" = all), sorted bytewise, a directory as if its key ended in "/". A
// directory in which there is nothing is left out. A dir that does not exist is empty.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		at := b.root
		if dir != "" {
			at = b.Path(dir)
		}
		entries, err := b.readDir(ctx, at)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, e := range entries {
			out := Entry{Object: e.object, IsDir: e.isDir}
			out.Key = e.elem
			if dir != "" {
				out.Key = dir + "/" + e.elem
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// walker carries one listing through the tree. Directories are visited in the order of their keys, so what it
// yields is sorted without more than one directory's entries in memory per level.
type walker struct {
	ctx    context.Context // of the one listing that it serves
	bucket *Bucket
	cursor *paging.Cursor
	yield  func(Object, error) bool
}

// walk yields what lies in dir, a key that is "" or ends in "/"; false ends the listing.
func (w *walker) walk(dir string) bool {
	entries, err := w.bucket.readDir(w.ctx, w.bucket.dirPath(dir))
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	for _, e := range entries {
		key := dir + e.elem
		if e.isDir {
			key += "/"
		}
		if !w.cursor.Wants(key, e.isDir) {
			continue
		}
		if e.isDir {
			if !w.walk(key) {
				return false
			}
			continue
		}
		e.object.Key = key
		if !w.yield(e.object, nil) {
			return false
		}
	}
	return true
}

// dirEntry is one name in a directory, as an element of a key.
type dirEntry struct {
	elem   string
	isDir  bool
	object Object // without Key; zero for a directory
}

func (e dirEntry) order() string {
	if e.isDir {
		return e.elem + "/"
	}
	return e.elem
}

// dirPath is the path of a directory's key, which is "" or ends in a slash.
func (b *Bucket) dirPath(dir string) string {
	if dir == "" {
		return b.root
	}
	return b.Path(dir[:len(dir)-1])
}

// readDir gives the entries of a directory in the order of their keys, which is not that of the NameNode: bytes are
// signed numbers to it, and names may be escaped.
func (b *Bucket) readDir(ctx context.Context, at string) ([]dirEntry, error) {
	var entries []dirEntry
	err := b.with(ctx, "list", at, func(c *client) error {
		entries = nil
		return c.list(at, "", func(status *hdfs.FileStatus) bool {
			if e, ok := newDirEntry(status); ok {
				entries = append(entries, e)
			}
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b dirEntry) int { return cmp.Compare(a.order(), b.order()) })
	return entries, nil
}

// newDirEntry passes over temporary files, uploads, symbolic links and directories with nothing in them.
func newDirEntry(status *hdfs.FileStatus) (dirEntry, bool) {
	name := string(status.GetPath())
	e := dirEntry{elem: escape().Elem(name), isDir: status.GetFileType() == isDir}
	if isTemp(name) || len(status.GetSymlink()) > 0 {
		return e, false
	}
	if e.isDir {
		return e, status.ChildrenNum == nil || status.GetChildrenNum() > 0
	}
	e.object = objectOf(status)
	return e, true
}

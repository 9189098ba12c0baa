package dbfsblob

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/paging"
)

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
// directory that holds no object is listed too. A dir that does not exist is empty.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		prefix := dir
		if dir != "" {
			prefix += "/"
		}
		list, err := b.readDir(ctx, prefix)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, e := range list {
			e.object.Key = prefix + e.name
			if !yield(Entry{Object: e.object, IsDir: e.isDir}, nil) {
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
	list, err := w.bucket.readDir(w.ctx, dir)
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	for _, e := range list {
		key := dir + e.order()
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

func (e dirEntry) order() string {
	if e.isDir {
		return e.name + "/"
	}
	return e.name
}

// readDir gives the entries of the directory at a key that is "" or ends in "/", as elements of keys and in their
// order, without our own files.
func (b *Bucket) readDir(ctx context.Context, key string) ([]dirEntry, error) {
	at := b.root
	if key != "" {
		at = b.Path(key[:len(key)-1])
	}
	list, err := b.api.list(ctx, at)
	if err != nil {
		return nil, wrap("list", at, err)
	}
	list = slices.DeleteFunc(list, func(e dirEntry) bool { return isTemp(e.name) || e.name == attrsDir })
	for i := range list {
		list[i].name = escape().Elem(list[i].name)
	}
	slices.SortFunc(list, func(a, b dirEntry) int { return cmp.Compare(a.order(), b.order()) })
	// A page may repeat what the one before it held, where something was added in between.
	return slices.CompactFunc(list, func(a, b dirEntry) bool { return a.order() == b.order() }), nil
}

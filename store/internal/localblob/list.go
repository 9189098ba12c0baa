package localblob

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/paging"
)

// Entry is one name in a directory: an object, or a directory, of which only Key is set.
type Entry struct {
	Object
	IsDir bool
}

// Walk lists every object whose key begins with prefix, sorted bytewise by key. It streams: memory is that of the
// directories on the way. Whatever cannot be read ends it with an error. What is created or deleted meanwhile may or may not appear;
// what existed throughout does.
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
		w := &walker{ctx: ctx, cursor: cursor, yield: yield}
		w.run(b)
	}
}

// ReadDir lists one level below dir ("" = all), sorted bytewise, a directory as if its key ended in "/". A
// directory that holds no object is listed too. A dir that does not exist is empty.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		entries, root, err := b.level(ctx, dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, e := range entries {
			key := path.Join(dir, e.elem)
			if e.isDir {
				if !yield(Entry{Object: Object{Key: key}, IsDir: true}, nil) {
					return
				}
				continue
			}
			info, err := e.stat(root)
			if err == nil && info == nil {
				continue
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(Entry{Object: newObject(key, info)}, nil) {
				return
			}
		}
	}
}

func (b *Bucket) level(ctx context.Context, dir string) ([]dirEntry, *os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	root, err := b.reader()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	start := "."
	if dir != "" {
		start = pathOf(dir)
	}
	if ok, err := isRealDir(root, start); err != nil || !ok {
		return nil, root, err
	}
	entries, err := readDir(root, start)
	return entries, root, err
}

// walker carries one listing through the tree. Directories are visited in the order of their keys, so what it
// yields is sorted without more than one directory's names in memory per level.
type walker struct {
	ctx    context.Context
	root   *os.Root
	cursor *paging.Cursor
	yield  func(Object, error) bool
}

func (w *walker) run(b *Bucket) {
	root, err := b.reader()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		w.yield(Object{}, err)
		return
	}
	w.root = root
	dir, _ := path.Split(w.cursor.Prefix)
	start := "."
	if dir != "" {
		start = pathOf(strings.TrimSuffix(dir, "/"))
	}
	ok, err := isRealDir(root, start)
	if err != nil {
		w.yield(Object{}, err)
		return
	}
	if ok {
		w.walk(start, dir)
	}
}

// walk visits the directory at p, whose keys all begin with base. It returns false to end the whole listing.
func (w *walker) walk(p, base string) bool {
	if err := w.ctx.Err(); err != nil {
		w.yield(Object{}, err)
		return false
	}
	entries, err := readDir(w.root, p)
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	for _, e := range entries {
		key := base + e.sortKey()
		if !w.cursor.Wants(key, e.isDir) {
			continue
		}
		if e.isDir && !w.walk(e.path, key) {
			return false
		}
		if !e.isDir && !w.object(e, key) {
			return false
		}
	}
	return true
}

func (w *walker) object(e dirEntry, key string) bool {
	info, err := e.stat(w.root)
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	return info == nil || w.yield(newObject(key, info), nil)
}

// dirEntry is a name in a directory that may be an object or hold some.
type dirEntry struct {
	path  string // from the root
	elem  string
	isDir bool
	isSym bool
	entry fs.DirEntry
}

func (e dirEntry) sortKey() string {
	if e.isDir {
		return e.elem + "/"
	}
	return e.elem
}

// stat returns nil for what is no object: gone meanwhile, not regular, or a link that leads nowhere or out.
func (e dirEntry) stat(root *os.Root) (fs.FileInfo, error) {
	var info fs.FileInfo
	var err error
	if e.isSym {
		info, err = root.Stat(e.path)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, nil
		}
	} else {
		info, err = e.entry.Info()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil
	}
	return info, nil
}

// readDir returns the entries of the directory at p in the order of their keys. One that has vanished is empty;
// one that cannot be read to its end is an error.
func readDir(root *os.Root, p string) ([]dirEntry, error) {
	f, err := root.Open(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.ReadDir(-1)
	if errors.Is(err, fs.ErrNotExist) && len(names) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := make([]dirEntry, 0, len(names))
	for _, d := range names {
		if p == "." && isTemp(d.Name()) {
			continue
		}
		e := dirEntry{path: path.Join(p, d.Name()), elem: escape().Elem(d.Name()), isDir: d.IsDir(), entry: d, isSym: d.Type()&fs.ModeSymlink != 0}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b dirEntry) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	return entries, nil
}

// isRealDir says whether p is a directory reached through directories alone, as a listing from the top would reach it.
func isRealDir(root *os.Root, p string) (bool, error) {
	if p == "." {
		return true, nil
	}
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := root.Lstat(p[:i])
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if !info.IsDir() {
			return false, nil
		}
	}
	return true, nil
}

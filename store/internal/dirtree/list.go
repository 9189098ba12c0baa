package dirtree

import (
	"cmp"
	"context"
	"iter"
	"path"
	"slices"
	"strings"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/paging"
)

// Entry is one name in a directory: an object, or a directory, of which only Key is set.
type Entry struct {
	Object
	IsDir bool
}

// Name is what a driver finds in a directory.
type Name struct {
	Elem   string // of a key
	IsDir  bool
	Object Object // without Key; zero for a directory
	// Stat, unless nil, gives the Object once the listing has come to it; false for what is none after all.
	Stat func() (o Object, ok bool, err error)
}

// compare orders names as the keys behind them: a directory as if its name ended in "/".
func (n Name) compare(other Name) int {
	same := min(len(n.Elem), len(other.Elem))
	return cmp.Or(cmp.Compare(n.Elem[:same], other.Elem[:same]), cmp.Compare(n.rest(same), other.rest(same)))
}

// rest is the first byte from i on, -1 at the end.
func (n Name) rest(i int) int {
	switch {
	case i < len(n.Elem):
		return int(n.Elem[i])
	case n.IsDir:
		return '/'
	}
	return -1
}

// at gives the object, or the directory, with its whole key.
func (n Name) at(key string) (e Entry, ok bool, err error) {
	e, ok = Entry{Object: n.Object, IsDir: n.IsDir}, true
	if n.Stat != nil {
		e.Object, ok, err = n.Stat()
	}
	e.Key = key
	return e, ok, err
}

// ReadFunc gives what lies right below dir, a key that is "" or ends in "/", in any order. There is nothing in what is no
// directory. A name that comes twice, as at the seam of two pages, counts once.
type ReadFunc func(ctx context.Context, dir string) ([]Name, error)

// Walk lists every object whose key begins with prefix, sorted bytewise by key. Memory is that of the directories on
// the way. What cannot be read ends it with an error. What is created or deleted meanwhile may or may not appear; what
// existed throughout does.
func (read ReadFunc) Walk(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return read.WalkAfter(ctx, prefix, "")
}

// WalkAfter is Walk for the keys beyond after alone. Directories that lie before it are not read.
func (read ReadFunc) WalkAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return read.walk(ctx, &paging.Cursor{Prefix: prefix, After: after}, 1)
}

// ListPaged is that of a driver.Bucket.
func (read ReadFunc) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	walk := func(c *paging.Cursor) iter.Seq2[Object, error] { return read.walk(ctx, c, 1) }
	return paging.Fill(opts, walk, func(o Object) *driver.ListObject {
		return &driver.ListObject{Key: o.Key, ModTime: o.ModTime, Size: o.Size}
	})
}

// ReadDir lists one level below dir ("" = all), sorted bytewise, a directory as if its key ended in "/". A dir that does
// not exist is empty.
func (read ReadFunc) ReadDir(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	dir = Below(dir)
	return func(yield func(Entry, error) bool) {
		names, err := read.sorted(ctx, dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, n := range names {
			e, ok, err := n.at(dir + n.Elem)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if ok && !yield(e, nil) {
				return
			}
		}
	}
}

// Below is what the keys below dir begin with.
func Below(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// Above yields dir and the directories above it up to root, which is not among them. Both are clean paths.
func Above(dir, root string) iter.Seq[string] {
	below := strings.TrimSuffix(root, "/") + "/"
	return func(yield func(string) bool) {
		for dir := dir; dir != root && strings.HasPrefix(dir, below) && yield(dir); dir = path.Dir(dir) {
		}
	}
}

func (read ReadFunc) sorted(ctx context.Context, dir string) ([]Name, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names, err := read(ctx, dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, Name.compare)
	return slices.CompactFunc(names, func(a, b Name) bool { return a.compare(b) == 0 }), nil
}

func (read ReadFunc) walk(ctx context.Context, cursor *paging.Cursor, workers int) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		w := &walker{ctx: ctx, read: read, cursor: cursor, yield: yield, workers: workers}
		dir, _ := path.Split(cursor.Prefix)
		w.walk(dir)
	}
}

// walker carries one listing through the tree. Directories are visited in the order of their keys, so what it
// yields is sorted without more than one directory's names in memory per level.
type walker struct {
	ctx    context.Context // of the one listing that it serves
	read   ReadFunc
	cursor *paging.Cursor
	yield  func(Object, error) bool

	workers int // that may read directories side by side, if more than one; the cursor does not change then
}

// walk yields what lies in dir, a key that is "" or ends in "/"; false ends the listing.
func (w *walker) walk(dir string) bool {
	names, err := w.read.sorted(w.ctx, dir)
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	if w.workers > 1 && w.isBroad(names) {
		return w.walkAhead(dir, names)
	}
	return w.each(dir, names)
}

// isBroad says whether there are enough directories to read several at a time.
func (w *walker) isBroad(names []Name) bool {
	dirs := 0
	for _, n := range names {
		if n.IsDir {
			dirs++
		}
		if dirs == aheadMin {
			return true
		}
	}
	return false
}

// each yields what is behind the names in dir.
func (w *walker) each(dir string, names []Name) bool {
	for _, n := range names {
		key := dir + n.Elem
		if n.IsDir {
			key += "/"
		}
		if !w.cursor.Wants(key, n.IsDir) {
			continue
		}
		if n.IsDir && !w.walk(key) || !n.IsDir && !w.object(key, n) {
			return false
		}
	}
	return true
}

func (w *walker) object(key string, n Name) bool {
	e, ok, err := n.at(key)
	if err != nil {
		w.yield(Object{}, err)
		return false
	}
	return !ok || w.yield(e.Object, nil)
}

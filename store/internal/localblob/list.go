package localblob

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"runtime"
	"syscall"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// Walk is that of dirtree, on all cores.
func (b *Bucket) Walk(ctx context.Context, prefix string) iter.Seq2[dirtree.Object, error] {
	return b.WalkAfter(ctx, prefix, "")
}

// WalkAfter is that of dirtree, on all cores.
func (b *Bucket) WalkAfter(ctx context.Context, prefix, after string) iter.Seq2[dirtree.Object, error] {
	top, _ := path.Split(prefix)
	return b.from(top).WalkAhead(ctx, prefix, after, runtime.GOMAXPROCS(0))
}

// ReadDir is that of dirtree. A directory that holds no object is listed too.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[dirtree.Entry, error] {
	return b.from(dirtree.Below(dir)).ReadDir(ctx, dir)
}

// ListPaged implements driver.Bucket.
func (b *Bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	top, _ := path.Split(opts.Prefix)
	return b.from(top).ListPaged(ctx, opts)
}

// from reads the directories of a listing that begins with top. That one has to be looked at, since it was not reached
// from above.
func (b *Bucket) from(top string) dirtree.ReadFunc {
	return func(_ context.Context, key string) ([]dirtree.Name, error) {
		root, err := b.reader()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p := "."
		if key != "" {
			p = pathOf(key[:len(key)-1])
		}
		if _, opened := b.opened(); opened != nil {
			if names, ok := b.readDirBelow(root, opened, p); ok {
				return names, nil
			}
		}
		if key == top {
			if ok, err := isRealDir(root, p); err != nil || !ok {
				return nil, err
			}
		}
		return readDir(root, p)
	}
}

// readDir returns the names in the directory at p. One that has vanished is empty; one that cannot be read to its end
// is an error.
func readDir(root *os.Root, p string) ([]dirtree.Name, error) {
	f, err := root.Open(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if errors.Is(err, fs.ErrNotExist) && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]dirtree.Name, 0, len(entries))
	for _, e := range entries {
		if isForeign(p, e.Name()) {
			continue
		}
		n := dirtree.Name{Elem: escape().Elem(e.Name()), IsDir: e.IsDir()}
		if !n.IsDir {
			n.Stat = func() (dirtree.Object, bool, error) { return object(root, p, e) }
		}
		names = append(names, n)
	}
	return names, nil
}

// isForeign says whether the name in the directory at p is none of an object or a directory of objects.
func isForeign(p, name string) bool { return p == "." && keyname.IsTemp(name) }

// object describes what lies in the directory at p; false for what is no object: gone meanwhile, not regular, or a link
// that leads nowhere or out.
func object(root *os.Root, p string, e fs.DirEntry) (dirtree.Object, bool, error) {
	if e.Type()&fs.ModeSymlink != 0 {
		return linked(root, path.Join(p, e.Name()))
	}
	info, err := e.Info()
	switch {
	case err == nil:
		return newObject("", info), info.Mode().IsRegular(), nil
	case errors.Is(err, fs.ErrNotExist):
		return dirtree.Object{}, false, nil
	}
	return dirtree.Object{}, false, err
}

// linked describes what the link at p leads to.
func linked(root *os.Root, p string) (dirtree.Object, bool, error) {
	info, err := root.Stat(p)
	switch {
	case err == nil:
		return newObject("", info), info.Mode().IsRegular(), nil
	case errors.Is(err, fs.ErrPermission):
		return dirtree.Object{}, false, err
	}
	return dirtree.Object{}, false, nil
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

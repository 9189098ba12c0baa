package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// defaultParallel is how many files of a tree move at once.
const defaultParallel = 8

func (o *TransferOptions) parallel() int {
	if o != nil && o.Parallel > 0 {
		return o.Parallel
	}
	return defaultParallel
}

func (o *TransferOptions) skip(path string) bool { return o != nil && o.Skip != nil && o.Skip(path) }

// UploadTree puts every regular file below the local directory dir under prefix,
// several at once, and returns the objects sorted by key. Links and special
// files are passed over. A file whose size changes on the way is ErrConflict. At
// the first error it stops; what was uploaded stays.
func (s *Store) UploadTree(ctx context.Context, dir string, prefix Key, opts *TransferOptions) ([]Object, error) {
	paths, err := regularFiles(dir, opts)
	if err != nil {
		return nil, s.wrap("upload", dir, err)
	}
	objects := make([]Object, len(paths))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opts.parallel())
	for i, path := range paths {
		group.Go(func() (err error) {
			objects[i], err = s.uploadFile(ctx, filepath.Join(dir, path), prefix.Join(filepath.ToSlash(path)))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	sortObjects(objects)
	return objects, nil
}

// regularFiles lists the files of a tree as paths relative to dir.
func regularFiles(dir string, opts *TransferOptions) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil || rel == ".":
			return err
		case opts.skip(filepath.ToSlash(rel)) && d.IsDir():
			return fs.SkipDir
		case d.Type().IsRegular() && !opts.skip(filepath.ToSlash(rel)):
			paths = append(paths, rel)
		}
		return nil
	})
	return paths, err
}

func (s *Store) uploadFile(ctx context.Context, path string, key Key) (Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return Object{}, s.wrap("upload", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Object{}, s.wrap("upload", path, err)
	}
	obj, err := s.PutFrom(ctx, key, f, info.Size())
	after, statErr := f.Stat()
	if statErr == nil && (after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime())) {
		return obj, &Error{Op: "upload", Key: path, Kind: ErrConflict, Err: errors.New("the file changed while it was read")}
	}
	if err == nil && obj.Size != info.Size() {
		return obj, &Error{Op: "upload", Key: path, Kind: ErrCorrupt, Err: fmt.Errorf("%d of %d bytes arrived", obj.Size, info.Size())}
	}
	return obj, err
}

func sortObjects(list []Object) {
	slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
}

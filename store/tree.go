package store

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

func (o *TransferOptions) skip(path string) bool { return o != nil && o.Skip != nil && o.Skip(path) }

// UploadTree puts every regular file below the local directory dir under prefix,
// several at once, as Upload does, and returns the objects sorted by key. Links,
// special files and what an unfinished download left are passed over. Before
// anything is sent the names are checked as by CheckTree. At the first error it
// stops; what was uploaded stays. opts may be nil.
func (s *Store) UploadTree(ctx context.Context, dir string, prefix Key, opts *TransferOptions) ([]Object, error) {
	files, err := regularFiles(dir, opts, true)
	if err == nil {
		err = s.checkNames(prefix, files)
	}
	if err != nil {
		return nil, s.wrap("upload", dir, err)
	}
	m, ctx := s.newMover(ctx, "upload", opts)
	defer m.meter.finish()
	m.dropOldJournals(ctx)
	for _, f := range files {
		m.meter.expect(1, f.size)
	}
	objects := make([]Object, len(files))
	err = m.each(ctx, len(files), func(ctx context.Context, i int) error {
		src, err := openSource(filepath.Join(dir, files[i].path))
		if err != nil {
			return m.store.wrap("upload", filepath.Join(dir, files[i].path), err)
		}
		defer src.close()
		m.meter.expect(0, src.size-files[i].size)
		t, err := m.upload(ctx, src, prefix.Join(filepath.ToSlash(files[i].path)))
		objects[i] = t.Object
		return err
	})
	if err != nil {
		return nil, err
	}
	sortObjects(objects)
	return objects, nil
}

// CheckTree is ErrInvalid where files that UploadTree would send have names that
// no key can have, and names them. It makes no request. opts may be nil.
func (s *Store) CheckTree(dir string, prefix Key, opts *TransferOptions) error {
	files, err := regularFiles(dir, opts, false)
	if err == nil {
		err = s.checkNames(prefix, files)
	}
	return s.wrap("upload", dir, err)
}

// namedAtMost is how many bad names an error lists.
const namedAtMost = 20

func (s *Store) checkNames(prefix Key, files []localFile) error {
	var bad []string
	for _, f := range files {
		name := filepath.ToSlash(f.path)
		key := string(prefix.Join(name))
		if err := cmp.Or(checkKey(key), checkKey(s.prefix+key)); err != nil {
			bad = append(bad, fmt.Sprintf("%q: %v", name, err))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return invalid(fmt.Errorf("no key can have these names: %s", firstNames(bad)))
}

// firstNames lists some of them, sorted.
func firstNames(bad []string) string {
	slices.Sort(bad)
	text := strings.Join(bad[:min(len(bad), namedAtMost)], ", ")
	if more := len(bad) - namedAtMost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// each does one thing for each of n files, many at once: the gate decides how
// many of their requests are on their way.
func (m *mover) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, m.opts.Parallel+1) { // one more reads while they wait
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n && groupCtx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(groupCtx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// localFile is a file of a tree.
type localFile struct {
	path string // relative to the tree
	size int64  // bytes, if asked for
}

// regularFiles lists the files of a tree; with their sizes the longest first, so
// that none of these is left over when all else is done.
func regularFiles(dir string, opts *TransferOptions, sizes bool) ([]localFile, error) {
	var files []localFile
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		skipped := opts.skip(filepath.ToSlash(rel))
		switch {
		case skipped && d.IsDir():
			return fs.SkipDir
		case !skipped && d.Type().IsRegular() && !isPartName(d.Name()):
			size := int64(0)
			if sizes {
				info, err := d.Info()
				if err != nil {
					return err
				}
				size = info.Size()
			}
			files = append(files, localFile{rel, size})
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b localFile) int { return cmp.Compare(b.size, a.size) })
	return files, err
}

func sortObjects(list []Object) {
	slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
}

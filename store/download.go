package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Download writes the object to the local file at path, whose directory it
// makes. It fetches ranges of one version, several at once, into a hidden file
// beside the target, checks length and checksum, and renames at the end: the file
// appears whole, or not at all. As with cp, the system brings it to the disk in its
// own time. A link at path is replaced, not followed. With opts.Create it is
// ErrExist if there is a file. An object that is replaced meanwhile is fetched
// anew. The error is ErrNoSpace where the disk is too small, which is looked at
// before.
//
// What a killed process has fetched is taken up by the same call. One that fails
// or is cancelled leaves that behind only if opts.JournalDir is set. Where the
// file system takes a file only from front to back, as the mounts of object
// stores do, ranges are held in memory until it is their turn, nothing can be
// taken up, and what a killed process left is removed by the same call a day
// later. opts may be nil.
func (s *Store) Download(ctx context.Context, key Key, path string, opts *TransferOptions) (Transferred, error) {
	obj, err := s.Stat(ctx, key)
	if err != nil {
		return Transferred{}, s.renamed("download", err)
	}
	dir, name := filepath.Split(path)
	if name == "" || name == "." || name == ".." {
		return Transferred{}, s.wrap("download", path, invalid(errors.New("it is a directory")))
	}
	root, err := openTarget(dir)
	if err != nil {
		return Transferred{}, s.wrap("download", path, err)
	}
	defer root.Close()
	m, ctx := s.newMover(ctx, "download", opts)
	defer m.meter.finish()
	m.meter.expect(1, obj.Size)
	return m.download(ctx, obj, root, name)
}

// openTarget opens a local directory, made where it is missing.
func openTarget(dir string) (*os.Root, error) {
	if dir == "" {
		dir = "."
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// DownloadTree writes every object below prefix into the local directory dir,
// which it makes, several at once, as Download does, and returns the objects
// sorted by key. Nothing outside dir is touched, whatever links it holds. Objects
// whose names the local file system cannot tell apart are ErrConflict, and a name
// that it cannot hold is ErrInvalid, before anything is written. At the first
// error it stops; files that were complete stay. opts may be nil.
func (s *Store) DownloadTree(ctx context.Context, prefix Key, dir string, opts *TransferOptions) ([]Object, error) {
	root, err := openTarget(dir)
	if err != nil {
		return nil, s.wrap("download", dir, err)
	}
	defer root.Close()
	m, ctx := s.newMover(ctx, "download", opts)
	defer m.meter.finish()
	to := newTarget(root)
	defer to.close()
	under := slashed(string(prefix))
	nameOf := func(o Object) string { return strings.TrimPrefix(string(o.Key), under) }
	var objects []Object
	var bad []string
	for obj, err := range s.List(ctx, under) {
		if err != nil {
			return nil, err
		}
		if opts.skip(nameOf(obj)) {
			continue
		}
		if _, err := filepath.Localize(nameOf(obj)); err != nil {
			bad = append(bad, strconv.Quote(nameOf(obj)))
			continue
		}
		objects = append(objects, obj)
		m.meter.expect(1, obj.Size)
	}
	if len(bad) > 0 {
		return nil, m.failed(dir, invalid(fmt.Errorf("no file here can have these names: %s", firstNames(bad))))
	}
	same := func(a, b string) (bool, error) { return foldsTogether(root, a, b) }
	if err := checkTwins(objects, nameOf, same); err != nil {
		return nil, m.failed(dir, err)
	}
	// The longest first, so that none of these is left over when all else is done.
	slices.SortStableFunc(objects, func(a, b Object) int { return cmp.Compare(b.Size, a.Size) })
	err = m.each(ctx, len(objects), func(ctx context.Context, i int) error {
		t, err := m.downloadInto(ctx, objects[i], to, nameOf(objects[i]))
		if err == nil {
			objects[i] = t.Object
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sortObjects(objects)
	return objects, nil
}

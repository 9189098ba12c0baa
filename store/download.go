package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// DownloadTree writes every object below prefix into the local directory dir,
// which it makes, several at once, and returns the objects sorted by key. A file
// appears whole, under its name, or not at all, and nothing outside dir is
// touched, whatever links it holds. At the first error it stops; files that were
// complete stay.
func (s *Store) DownloadTree(ctx context.Context, prefix Key, dir string, opts *TransferOptions) ([]Object, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, s.wrap("download", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, s.wrap("download", dir, err)
	}
	defer root.Close()
	under := slashed(string(prefix))
	var objects []Object
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for obj, err := range s.List(groupCtx, under) {
		if err != nil {
			return nil, errors.Join(group.Wait(), err)
		}
		name := strings.TrimPrefix(string(obj.Key), under)
		if opts.skip(name) {
			continue
		}
		objects = append(objects, obj)
		group.Go(func() error { return s.downloadFile(groupCtx, obj, root, name) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return objects, nil
}

// downloadFile writes beside the name and renames at the end.
func (s *Store) downloadFile(ctx context.Context, obj Object, root *os.Root, name string) error {
	r, err := s.Open(ctx, obj.Key)
	if err != nil {
		return err
	}
	defer r.Close()
	part := path.Join(path.Dir(name), ".heirloom-"+newWriteID()[:12]+".part")
	err = writePart(root, filepath.FromSlash(part), r)
	if err == nil {
		err = root.Rename(filepath.FromSlash(part), filepath.FromSlash(name))
	}
	if err != nil {
		_ = root.Remove(filepath.FromSlash(part)) // what is left of it, if anything
	}
	return s.wrap("download", string(obj.Key), err)
}

func writePart(root *os.Root, name string, r *Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && n != r.Object().Size {
		err = &Error{Kind: ErrCorrupt, Err: fmt.Errorf("%d of %d bytes arrived", n, r.Object().Size)}
	}
	return err
}

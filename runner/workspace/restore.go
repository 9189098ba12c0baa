package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const restoreAtOnce = 16

// Load reads the manifest of a tree. One that is not there is store.ErrNotExist,
// one that is torn, or is none, store.ErrCorrupt.
func Load(ctx context.Context, s *store.Store, digest store.Digest) (*Tree, error) {
	if d, err := store.ParseDigest(string(digest)); err != nil || d != digest {
		return nil, fmt.Errorf("workspace %q has no SHA-256 for a name: %w", digest, store.ErrInvalid)
	}
	object, err := s.Stat(ctx, Key(digest))
	if err != nil {
		return nil, err
	}
	if object.Size > maxManifestBytes {
		return nil, corrupt(digest, fmt.Errorf("it has %d bytes", object.Size))
	}
	body, err := s.Get(ctx, Key(digest))
	if err != nil {
		return nil, err
	}
	return decode(body, digest)
}

// Restore writes a tree into dir, which must be empty and is made if it is missing,
// else the error is store.ErrExist. Every byte is verified; a content that is
// missing or is not what the manifest says is store.ErrCorrupt. Nothing is written
// outside of dir. What a failed Restore wrote is removed.
func Restore(ctx context.Context, s *store.Store, digest store.Digest, dir string) (*Tree, error) {
	t, err := Load(ctx, s, digest)
	if err == nil {
		err = t.restore(ctx, s, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("restore workspace: %w", err)
	}
	return t, nil
}

func (t *Tree) restore(ctx context.Context, s *store.Store, dir string) error {
	root, err := openEmpty(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	r := &restorer{tree: t, store: s, root: root}
	if err := r.all(ctx); err != nil {
		r.remove()
		return err
	}
	return nil
}

// openEmpty opens a directory that must not hold anything.
func openEmpty(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("%s is not empty, it holds %q: %w", dir, list[0].Name(), store.ErrExist)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// restorer writes one tree below a directory that it cannot leave.
type restorer struct {
	tree  *Tree
	store *store.Store
	root  *os.Root
}

// all makes directories first, then files, then links, so that nothing is ever
// written through one, and closes directories last.
func (r *restorer) all(ctx context.Context) error {
	for _, e := range r.tree.Entries {
		if e.Kind == Dir {
			if err := r.root.Mkdir(filepath.FromSlash(e.Path), 0o700); err != nil {
				return err
			}
		}
	}
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(restoreAtOnce)
	for _, e := range r.tree.Entries {
		if e.Kind == File {
			group.Go(func() error { return r.file(limited, e) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, e := range r.tree.Entries {
		if e.Kind == Link {
			if err := r.root.Symlink(e.Target, filepath.FromSlash(e.Path)); err != nil {
				return err
			}
		}
	}
	for _, e := range slices.Backward(r.tree.Entries) {
		if e.Kind == Dir {
			if err := r.root.Chmod(filepath.FromSlash(e.Path), e.Mode); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *restorer) file(ctx context.Context, e Entry) (err error) {
	key := objectKey(e.SHA256)
	in, err := r.store.Open(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return corrupt(r.tree.Digest, fmt.Errorf("the content of %q is missing: there is no %s", e.Path, key))
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := r.root.OpenFile(filepath.FromSlash(e.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	wrong := func() error {
		return &store.Error{Op: "restore", Key: string(key), Kind: store.ErrCorrupt, Err: fmt.Errorf("the content of %q does not have that SHA-256", e.Path)}
	}
	n, err := io.CopyBuffer(out, newVerifier(in, e.SHA256, wrong), make([]byte, readBuffer))
	if err == nil && n != e.Size {
		err = wrong()
	}
	if err != nil {
		return err
	}
	return out.Chmod(e.Mode)
}

// remove takes away what was written, by its names.
func (r *restorer) remove() {
	for _, e := range slices.Backward(r.tree.Entries) {
		_ = r.root.Remove(filepath.FromSlash(e.Path))
	}
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

const (
	keepAtOnce = 16
	// smallFile is up to which size a file is sent without asking first whether the
	// store has it: the answer costs as much as the bytes.
	smallFile = 64 << 10
	// listFrom is how many contents are worth a look at what the store has, and
	// listedEach how many objects that may list for each of them.
	listFrom   = 32
	listedEach = 50
)

// Kept says what it took to store a tree.
type Kept struct {
	Known bool  // the store had it: that was the only request
	Sent  int   // objects written, without the manifest
	Bytes int64 // in them
}

// Keep stores a tree that was scanned: each content once, and then the manifest, so
// that a tree is there whole or not at all. What is there already is not sent; a
// tree that is costs one request. A file that is no longer what was scanned is
// store.ErrConflict. It may be called again, also after a crash.
func (t *Tree) Keep(ctx context.Context, s *store.Store) (Kept, error) {
	k := &keeper{tree: t, store: s}
	kept, err := k.keep(ctx)
	if err != nil {
		return kept, fmt.Errorf("store workspace: %w", err)
	}
	return kept, nil
}

type keeper struct {
	tree  *Tree
	store *store.Store
}

func (k *keeper) keep(ctx context.Context) (Kept, error) {
	key := Key(k.tree.Digest)
	object, err := k.store.Stat(ctx, key)
	if err == nil && object.Size == int64(len(k.tree.manifest)) {
		return Kept{Known: true}, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return Kept{}, err
	}
	missing, err := k.missing(ctx)
	if err != nil {
		return Kept{}, err
	}
	kept := Kept{}
	sent := make([]bool, len(missing))
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(keepAtOnce)
	for i, e := range missing {
		group.Go(func() (err error) {
			sent[i], err = k.send(limited, e)
			return err
		})
	}
	err = group.Wait()
	for i, e := range missing {
		if sent[i] {
			kept.Sent++
			kept.Bytes += e.Size
		}
	}
	if err != nil {
		return kept, err
	}
	return kept, k.store.Put(ctx, key, k.tree.manifest)
}

// missing gives one file for each content that the store is not known to have.
func (k *keeper) missing(ctx context.Context) ([]Entry, error) {
	contents := map[store.Digest]bool{}
	var files []Entry
	for _, e := range k.tree.Entries {
		if e.Kind == File && !contents[e.SHA256] {
			contents[e.SHA256] = true
			files = append(files, e)
		}
	}
	if len(files) < listFrom {
		return files, nil
	}
	there := map[store.Key]int64{}
	listed := 0
	prefix := string((store.Layout{}).Heirloom().Join(objectsDir)) + "/"
	for object, err := range k.store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if contents[store.Digest(object.Key.Base())] {
			there[object.Key] = object.Size
		}
		if listed++; listed > listedEach*len(files) {
			break // the rest finds out for itself
		}
	}
	left := files[:0]
	for _, e := range files {
		if size, ok := there[objectKey(e.SHA256)]; !ok || size != e.Size {
			left = append(left, e)
		}
	}
	return left, nil
}

// send stores the content of a file, and says whether it had to.
func (k *keeper) send(ctx context.Context, e Entry) (bool, error) {
	key := objectKey(e.SHA256)
	if e.Size > smallFile {
		object, err := k.store.Stat(ctx, key)
		if err == nil && object.Size == e.Size {
			return false, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotExist) {
			return false, err
		}
	}
	f, err := os.OpenFile(filepath.Join(k.tree.root, filepath.FromSlash(e.Path)), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false, changed(e.Path, "was removed")
	}
	defer func() { _ = f.Close() }()
	in := newVerifier(io.LimitReader(f, e.Size+1), e.SHA256, func() error { return changed(e.Path, "changed") })
	if e.Size > smallFile {
		if _, err = k.store.PutFrom(ctx, key, in, e.Size); errors.Is(err, store.ErrInvalid) {
			err = changed(e.Path, "changed")
		}
		return err == nil, err
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return false, err
	}
	return k.create(ctx, key, body)
}

// create stores a small content. One that is there but is not it, as what a broken
// disk left, is replaced.
func (k *keeper) create(ctx context.Context, key store.Key, body []byte) (bool, error) {
	err := k.store.Create(ctx, key, body)
	if !errors.Is(err, store.ErrExist) {
		return err == nil, err
	}
	if object, err := k.store.Stat(ctx, key); err != nil || object.Size == int64(len(body)) {
		return false, err
	}
	return true, k.store.Put(ctx, key, body)
}

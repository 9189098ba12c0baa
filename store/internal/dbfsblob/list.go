package dbfsblob

import (
	"context"
	"iter"
	"slices"

	"gocloud.dev/blob/driver"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// Walk is that of dirtree.
func (b *Bucket) Walk(ctx context.Context, prefix string) iter.Seq2[dirtree.Object, error] {
	return b.WalkAfter(ctx, prefix, "")
}

// WalkAfter is that of dirtree.
func (b *Bucket) WalkAfter(ctx context.Context, prefix, after string) iter.Seq2[dirtree.Object, error] {
	return dirtree.ReadFunc(b.readDir).WalkAfter(ctx, prefix, after)
}

// ReadDir is that of dirtree. A directory that holds no object is listed too.
func (b *Bucket) ReadDir(ctx context.Context, dir string) iter.Seq2[dirtree.Entry, error] {
	return dirtree.ReadFunc(b.readDir).ReadDir(ctx, dir)
}

// ListPaged implements driver.Bucket.
func (b *Bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	return dirtree.ReadFunc(b.readDir).ListPaged(ctx, opts)
}

// readDir gives the names in the directory of a key that is "" or ends in "/", without our own files.
func (b *Bucket) readDir(ctx context.Context, key string) ([]dirtree.Name, error) {
	at := b.root
	if key != "" {
		at = b.Path(key[:len(key)-1])
	}
	names, err := b.api.list(ctx, at)
	if err != nil {
		return nil, wrap("list", at, err)
	}
	names = slices.DeleteFunc(names, func(n dirtree.Name) bool { return keyname.IsTemp(n.Elem) || n.Elem == attrsDir })
	for i := range names {
		names[i].Elem = escape().Elem(names[i].Elem)
	}
	return names, nil
}

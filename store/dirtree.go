package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// What the backends over trees of directories have alike.

func treeObject(o dirtree.Object) Object {
	if o.Key == "" {
		return Object{}
	}
	return Object{Key: Key(o.Key), Size: o.Size, Modified: o.ModTime, Version: o.Version}
}

// treeMode is how a driver writes with or without a condition.
func treeMode(absent bool) dirtree.Mode {
	if absent {
		return dirtree.Create
	}
	return dirtree.Replace
}

// treeError gives a driver's error our kind, without the verb and the path, which are
// not those of the caller, and leaves others.
func treeError(err error) error {
	e, ok := errors.AsType[*dirtree.Error](err)
	if !ok {
		return err
	}
	err = briefError{e.Cause(), e}
	if e.Kind == nil {
		return err
	}
	return &Error{Kind: kindOf(e.Kind), Err: err}
}

// treeReader is a driver's reader with our errors.
type treeReader struct{ io.ReadCloser }

func (r treeReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = treeError(err)
	}
	return n, err
}

type treeLister interface {
	WalkAfter(ctx context.Context, prefix, after string) iter.Seq2[dirtree.Object, error]
	ReadDir(ctx context.Context, dir string) iter.Seq2[dirtree.Entry, error]
}

// beyond says whether a name of a directory comes after a key.
func beyond(e dirtree.Entry, after string) bool {
	if e.IsDir {
		return e.Key+"/" > after
	}
	return e.Key > after
}

// treePages walks the tree and cuts the walk into pages.
func treePages(tree treeLister, prefix, delimiter, after string) *walkPager {
	return &walkPager{walk: func(ctx context.Context) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			if delimiter != "" {
				for e, err := range tree.ReadDir(ctx, strings.TrimSuffix(prefix, "/")) {
					if err == nil && !beyond(e, after) {
						continue
					}
					if !yield(Entry{Object: treeObject(e.Object), IsDir: e.IsDir}, treeError(err)) {
						return
					}
				}
				return
			}
			for o, err := range tree.WalkAfter(ctx, prefix, after) {
				if !yield(Entry{Object: treeObject(o)}, treeError(err)) {
					return
				}
			}
		}
	}}
}

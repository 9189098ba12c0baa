package store

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/localblob"
)

// mountBackend is a directory of Databricks' file system where it is mounted (FUSE). Files
// are written from front to back, and named by a rename.
type mountBackend struct {
	bucket *localblob.Bucket
}

// capabilities: nothing is said in public of how the mount renames, what a flush
// means, or what other machines see of it. Create has one winner among the processes of one
// user on one machine.
func (b *mountBackend) capabilities() Capabilities { return Capabilities{CoarseVersion: true} }

func (b *mountBackend) close() error { return b.bucket.Close() }

func (b *mountBackend) stat(ctx context.Context, key string) (Object, error) {
	o, err := b.bucket.Stat(ctx, key)
	return mountObject(o), err
}

func (b *mountBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	f, info, err := b.bucket.OpenFile(ctx, key)
	if err != nil {
		return nil, Object{}, err
	}
	obj := mountObject(info)
	if version != "" && version != obj.Version {
		f.Close() // only read
		return nil, Object{}, ErrConflict
	}
	if length < 0 {
		length = max(obj.Size-offset, 0)
	}
	return limited{io.NewSectionReader(f, offset, length), f}, obj, nil
}

func (b *mountBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	put := b.bucket.Put
	if cond.absent {
		put = b.bucket.Create
	}
	o, err := put(ctx, key, body)
	return mountObject(o), mountError(err)
}

func (b *mountBackend) stream(ctx context.Context, key string, r io.Reader, absent bool, send sendFunc) (Object, error) {
	var o dirtree.Object
	err := send(ctx, 0, false, func(ctx context.Context) error {
		w, err := b.bucket.NewWriter(ctx, key)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return errors.Join(err, w.Abort())
		}
		o, err = w.Commit(treeMode(absent))
		return mountError(err)
	})
	return mountObject(o), err
}

func (b *mountBackend) remove(ctx context.Context, key string) error {
	return b.bucket.Delete(ctx, key, nil)
}

func (b *mountBackend) pages(prefix, delimiter, after string) pager {
	pages := treePages(b.bucket, prefix, delimiter, after)
	walk := pages.walk
	pages.walk = func(ctx context.Context) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			for e, err := range walk(ctx) {
				if err == nil && !e.IsDir {
					e.Version = timeVersion(e.Object)
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
	return pages
}

// mountObject has a version without the number of the inode, which a FUSE file system need
// not keep.
func mountObject(o dirtree.Object) Object {
	obj := treeObject(o)
	if obj.Key != "" {
		obj.Version = timeVersion(obj)
	}
	return obj
}

// mountError says of what the mount refuses which other way there is.
func mountError(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	text := "the mount refuses what a write takes (" + err.Error() + "); HEIRLOOM_DBFS=rest uses the REST API of the workspace that DATABRICKS_HOST names"
	return &Error{Kind: ErrUnsupported, Err: briefError{text, err}}
}

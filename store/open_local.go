package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/heirloom-ml/heirloom/store/internal/localblob"
)

// openFile opens what stands behind "file://" or "file:". A host other than
// this machine has no meaning here.
func openFile(_ context.Context, rest string, opts Options) (*Store, error) {
	if strings.Contains(rest, "?") {
		return nil, invalid(errors.New("a file URL takes no parameters; write a path with a question mark without file://"))
	}
	if after, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + after
	}
	if !strings.HasPrefix(rest, "/") && !filepath.IsAbs(filepath.FromSlash(rest)) {
		return nil, invalid(fmt.Errorf("a file URL holds an absolute path, as in file:///%s", rest))
	}
	return openPath(filepath.FromSlash(rest), opts)
}

// openPath opens a local directory, which need not exist yet.
func openPath(path string, opts Options) (*Store, error) {
	if strings.ContainsRune(path, 0) {
		return nil, invalid(errors.New("the path holds a zero byte"))
	}
	if s, err := openBelowMount(path, opts); s != nil || err != nil {
		return s, err
	}
	b, err := localblob.Open(path, &localblob.Options{Shared: opts.Shared})
	if err != nil {
		return nil, notDirectory(path, err)
	}
	return newStore(place{scheme: "file", root: b.Dir()}, "", &localBackend{bucket: b}, opts), nil
}

// notDirectory gives err its kind where a file lies in the way, for which
// package os has an error without a number.
func notDirectory(path string, err error) error {
	info, statErr := os.Stat(path)
	if errors.Is(err, syscall.ENOTDIR) || statErr == nil && !info.IsDir() {
		return invalid(errors.New("not a directory"))
	}
	return err
}

// localBackend is a directory of the local file system.
type localBackend struct {
	bucket *localblob.Bucket
}

func (b *localBackend) capabilities() Capabilities {
	c := b.bucket.Capabilities()
	return Capabilities{AtomicCreate: c.Create, AtomicPut: true, Append: c.Append, Durable: c.Durable}
}

func (b *localBackend) close() error { return b.bucket.Close() }

func (b *localBackend) stat(ctx context.Context, key string) (Object, error) {
	obj, err := b.bucket.Stat(ctx, key)
	return treeObject(obj), err
}

func (b *localBackend) read(ctx context.Context, key string, offset, length int64, version string) (io.ReadCloser, Object, error) {
	f, info, err := b.bucket.OpenFile(ctx, key)
	if err != nil {
		return nil, Object{}, err
	}
	obj := treeObject(info)
	if version != "" && version != obj.Version {
		err = ErrConflict
	} else if offset > 0 {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		f.Close() // only read
		return nil, Object{}, err
	}
	if length < 0 {
		return f, obj, nil
	}
	return limited{io.LimitReader(f, length), f}, obj, nil
}

type limited struct {
	io.Reader
	io.Closer
}

func (b *localBackend) readWhole(ctx context.Context, key string) ([]byte, error) {
	return b.bucket.ReadFile(ctx, key)
}

func (b *localBackend) dirsHolding(ctx context.Context, dir string, what Holding) ([]DirHolding, error) {
	found, err := b.bucket.DirsHolding(ctx, strings.TrimSuffix(dir, "/"), texts(what.Any), texts(what.None))
	list := make([]DirHolding, len(found))
	for i, d := range found {
		list[i] = DirHolding{Key: Key(dir + d.Elem), Holds: d.Holds}
	}
	return list, err
}

func texts(keys []Key) []string {
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = string(key)
	}
	return list
}

func (b *localBackend) write(ctx context.Context, key string, body []byte, cond condition) (Object, error) {
	if cond.version != "" {
		return Object{}, ErrUnsupported
	}
	put := b.bucket.Put
	if cond.absent {
		put = b.bucket.Create
	}
	obj, err := put(ctx, key, body)
	return treeObject(obj), err
}

func (b *localBackend) remove(ctx context.Context, key string) error {
	return b.bucket.Delete(ctx, key, nil)
}

func (b *localBackend) appendLines(ctx context.Context, key string, lines []string) error {
	return b.bucket.AppendLines(ctx, key, lines)
}

func (b *localBackend) pages(prefix, delimiter, after string) pager {
	return treePages(b.bucket, prefix, delimiter, after)
}

// walkPager cuts one walk into pages.
type walkPager struct {
	walk func(context.Context) iter.Seq2[Entry, error]
	pull func() (Entry, error, bool) // nil before the first page
	end  func()
}

func (p *walkPager) next(ctx context.Context) ([]Entry, bool, error) {
	if p.pull == nil {
		p.pull, p.end = iter.Pull2(p.walk(ctx))
	}
	var page []Entry
	for len(page) < pageSize {
		e, err, ok := p.pull()
		if err != nil || !ok {
			return page, false, err
		}
		page = append(page, e)
	}
	return page, true, nil
}

func (p *walkPager) stop() {
	if p.end != nil {
		p.end()
	}
}

package benchlineage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
)

// bucket holds a root in no memory: what is asked for is made. It is read only.
type bucket struct {
	driver.Bucket // the rest is not asked for

	root *lineagetest.Root
	dirs []runDir // sorted
	runs int      // of them, the first in time

	mu     sync.Mutex
	recent map[int][]lineagetest.Object // guarded by mu; few runs, which are read soon after they were listed
}

type runDir struct {
	name string
	run  int
}

var errAbsent = errors.New("there is no such object")

func newBucket(root *lineagetest.Root, runs int) *blob.Bucket {
	b := &bucket{root: root, runs: runs, recent: map[int][]lineagetest.Object{}}
	for i := range runs {
		b.dirs = append(b.dirs, runDir{root.ID(i).Encode(), i})
	}
	slices.SortFunc(b.dirs, func(x, y runDir) int { return strings.Compare(x.name, y.name) })
	return blob.NewBucket(b)
}

func (b *bucket) Close() error { return nil }

func (b *bucket) ErrorCode(err error) gcerrors.ErrorCode {
	if errors.Is(err, errAbsent) {
		return gcerrors.NotFound
	}
	return gcerrors.Unknown
}

func (b *bucket) As(any) bool             { return false }
func (b *bucket) ErrorAs(error, any) bool { return false }

// at is the place of a directory in order, or of the next.
func (b *bucket) at(dir string) int {
	n, _ := slices.BinarySearchFunc(b.dirs, dir, func(d runDir, name string) int { return strings.Compare(d.name, name) })
	return n
}

func (b *bucket) objects(run int) ([]lineagetest.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if list, ok := b.recent[run]; ok {
		return list, nil
	}
	if len(b.recent) > 2000 {
		clear(b.recent)
	}
	list, err := b.root.Objects(run, b.runs)
	b.recent[run] = list
	return list, err
}

func (b *bucket) find(key string) (lineagetest.Object, error) {
	if o := b.root.Format(); o.Key == key {
		return o, nil
	}
	dir, _, _ := strings.Cut(key, "/")
	n := b.at(dir)
	if n == len(b.dirs) || b.dirs[n].name != dir {
		return lineagetest.Object{}, errAbsent
	}
	list, err := b.objects(b.dirs[n].run)
	if err != nil {
		return lineagetest.Object{}, err
	}
	i, found := slices.BinarySearchFunc(list, key, func(o lineagetest.Object, key string) int { return strings.Compare(o.Key, key) })
	if !found {
		return lineagetest.Object{}, errAbsent
	}
	return list[i], nil
}

// ListPaged lists objects in order; the token is the last key of the page before.
func (b *bucket) ListPaged(_ context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	after, most := string(opts.PageToken), cmp.Or(opts.PageSize, 1000)
	page := &driver.ListPage{}
	add := func(o lineagetest.Object) bool {
		if o.Key <= after || !strings.HasPrefix(o.Key, opts.Prefix) {
			return true
		}
		entry := &driver.ListObject{Key: o.Key, Size: int64(len(o.Body)), ModTime: o.Modified}
		if i := strings.Index(o.Key[len(opts.Prefix):], "/"); opts.Delimiter != "" && i >= 0 {
			entry = &driver.ListObject{Key: o.Key[:len(opts.Prefix)+i+1], IsDir: true}
			if entry.Key == after || len(page.Objects) > 0 && page.Objects[len(page.Objects)-1].Key == entry.Key {
				return true
			}
		}
		page.Objects = append(page.Objects, entry)
		return len(page.Objects) < most
	}
	from, _, _ := strings.Cut(max(after, opts.Prefix), "/")
	full := false
	for n := b.at(from); n < len(b.dirs) && !full; n++ {
		if !strings.HasPrefix(b.dirs[n].name+"/", opts.Prefix) && !strings.HasPrefix(opts.Prefix, b.dirs[n].name+"/") {
			break
		}
		list, err := b.objects(b.dirs[n].run)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if full = !add(o); full {
				page.NextPageToken = []byte(page.Objects[len(page.Objects)-1].Key)
				break
			}
		}
	}
	if !full {
		add(b.root.Format()) // lower case comes after base32
	}
	return page, nil
}

func (b *bucket) Attributes(_ context.Context, key string) (*driver.Attributes, error) {
	o, err := b.find(key)
	return &driver.Attributes{Size: int64(len(o.Body)), ModTime: o.Modified}, err
}

func (b *bucket) NewRangeReader(_ context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	o, err := b.find(key)
	if err != nil {
		return nil, err
	}
	body := o.Body[min(offset, int64(len(o.Body))):]
	if length >= 0 {
		body = body[:min(length, int64(len(body)))]
	}
	return &reader{bytes.NewReader(body), driver.ReaderAttributes{Size: int64(len(o.Body)), ModTime: o.Modified}}, nil
}

type reader struct {
	io.Reader
	attributes driver.ReaderAttributes
}

func (r *reader) Attributes() *driver.ReaderAttributes { return &r.attributes }
func (r *reader) As(any) bool                          { return false }
func (r *reader) Close() error                         { return nil }

package mutant

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/heirloom-ml/heirloom/store"
)

// mutant is a driver that hands on to a sound bucket, with at most one defect.
type mutant struct {
	*blob.Bucket
	racyCreate, blindCreate, listsTemps, keepsBroken, noDelete, mildDelete, refuses, hidesAbsence bool
	staleList, listsDeleted, swallowsListError, constantVersion, cuts, showsPartial, forgetful    bool

	page        func(list []*driver.ListObject, first bool) []*driver.ListObject
	read, write func([]byte) []byte
	span        func(offset, length int64) (int64, int64)
	size        func(int64) int64 // as a reader tells it
	key         func(string) string

	mu      sync.Mutex
	writes  int    // guarded by mu
	written string // guarded by mu; the last key
	deleted string // guarded by mu; the last key
}

func (m *mutant) remember(written, deleted string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written, m.deleted = written, deleted
}

// count is the number of this write.
func (m *mutant) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	return m.writes
}

func (m *mutant) last() (written, deleted string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.written, m.deleted
}

func (m *mutant) ErrorCode(err error) gcerrors.ErrorCode { return gcerrors.Code(err) }

// found is the error of looking for an object.
func (m *mutant) found(err error) error {
	if m.hidesAbsence && gcerrors.Code(err) == gcerrors.NotFound {
		return errors.New(err.Error())
	}
	return err
}

// time is that of an object, from which its version is made.
func (m *mutant) time(t time.Time) time.Time {
	if m.constantVersion {
		return time.Unix(1, 0)
	}
	return t
}

func (m *mutant) name(key string) string {
	if m.key != nil {
		return m.key(key)
	}
	return key
}

func (m *mutant) As(any) bool             { return false }
func (m *mutant) ErrorAs(error, any) bool { return false }
func (m *mutant) Close() error            { return m.Bucket.Close() }
func (m *mutant) Copy(context.Context, string, string, *driver.CopyOptions) error {
	return errors.New("not used")
}
func (m *mutant) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.New("not used")
}

func (m *mutant) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	a, err := m.Bucket.Attributes(ctx, m.name(key))
	if err != nil {
		return nil, m.found(err)
	}
	return &driver.Attributes{Metadata: a.Metadata, ModTime: m.time(a.ModTime), Size: a.Size, ETag: a.ETag}, nil
}

func (m *mutant) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	token := opts.PageToken
	if len(token) == 0 {
		token = blob.FirstPageToken
	}
	list, next, err := m.ListPage(ctx, token, opts.PageSize, &blob.ListOptions{Prefix: opts.Prefix, Delimiter: opts.Delimiter})
	if err != nil {
		return nil, err
	}
	page := &driver.ListPage{NextPageToken: next}
	for _, o := range list {
		page.Objects = append(page.Objects, &driver.ListObject{Key: o.Key, ModTime: m.time(o.ModTime), Size: o.Size, IsDir: o.IsDir})
	}
	written, deleted := m.last()
	if m.staleList {
		page.Objects = slices.DeleteFunc(page.Objects, func(o *driver.ListObject) bool { return o.Key == written })
	}
	if m.listsDeleted && deleted != "" && strings.HasPrefix(deleted, opts.Prefix) && opts.Delimiter == "" && len(next) == 0 {
		page.Objects = append(page.Objects, &driver.ListObject{Key: deleted})
		slices.SortFunc(page.Objects, func(a, b *driver.ListObject) int { return strings.Compare(a.Key, b.Key) })
	}
	if m.swallowsListError && len(opts.PageToken) > 0 {
		return &driver.ListPage{}, nil // the request failed
	}
	if m.page != nil {
		page.Objects = m.page(page.Objects, len(opts.PageToken) == 0)
	}
	return page, nil
}

func (m *mutant) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	if m.span != nil {
		offset, length = m.span(offset, length)
	}
	r, err := m.Bucket.NewRangeReader(ctx, m.name(key), offset, length, nil)
	if err != nil {
		return nil, m.found(err)
	}
	if m.refuses && r.Size() > 10_000 { // as gcsblob, which takes 403 for 404
		r.Close()
		_, err := m.Bucket.Attributes(ctx, "refused")
		return nil, err
	}
	if m.size != nil {
		return mutantReader{r, m.time(r.ModTime()), r, m.size(r.Size())}, nil
	}
	if m.cuts {
		last := r.Size() - r.Size()/50 // what follows never comes, however often it is asked for
		return mutantReader{io.LimitReader(r, max(last-offset, 0)), m.time(r.ModTime()), r, r.Size()}, nil
	}
	if m.read == nil {
		return mutantReader{r, m.time(r.ModTime()), r, r.Size()}, nil
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	body = m.read(body)
	size := r.Size()
	if offset == 0 && length < 0 {
		size = int64(len(body))
	}
	return mutantReader{strings.NewReader(string(body)), m.time(r.ModTime()), r, size}, nil
}

type mutantReader struct {
	io.Reader
	time  time.Time
	under *blob.Reader
	size  int64
}

func (r mutantReader) Close() error { return r.under.Close() }
func (r mutantReader) As(any) bool  { return false }
func (r mutantReader) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{ModTime: r.time, Size: r.size}
}

func (m *mutant) NewTypedWriter(ctx context.Context, key, contentType string, opts *driver.WriterOptions) (driver.Writer, error) {
	w := &mutantWriter{m: m, ctx: ctx, key: m.name(key), opts: blob.WriterOptions{
		ContentType: contentType, Metadata: opts.Metadata, IfNotExist: opts.IfNotExist && !m.blindCreate && !m.racyCreate,
	}}
	if opts.IfNotExist && m.racyCreate {
		there, err := m.Exists(ctx, key)
		for range 100 { // a request takes its time, and others come between
			runtime.Gosched()
		}
		if err != nil || there {
			return nil, errors.Join(err, store.ErrExist)
		}
	}
	if m.showsPartial && !opts.IfNotExist {
		return w, m.WriteAll(ctx, w.key, nil, nil)
	}
	if m.listsTemps {
		return w, m.WriteAll(ctx, key+".tmp-being-written", nil, nil)
	}
	return w, nil
}

// mutantWriter gathers the body and stores it at the end.
type mutantWriter struct {
	m    *mutant
	ctx  context.Context
	key  string
	opts blob.WriterOptions
	body []byte
}

func (w *mutantWriter) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

func (w *mutantWriter) Close() error {
	if err := w.ctx.Err(); err != nil && !w.m.keepsBroken {
		return err
	}
	if w.m.listsTemps {
		if err := w.m.Bucket.Delete(w.ctx, w.key+".tmp-being-written"); err != nil {
			return err
		}
	}
	if w.m.write != nil {
		w.body = w.m.write(w.body)
	}
	if w.m.forgetful && w.m.count()%50 == 0 {
		return nil
	}
	err := w.m.WriteAll(context.WithoutCancel(w.ctx), w.key, w.body, &w.opts)
	if err == nil {
		w.m.remember(w.key, "")
	}
	return err
}

func (m *mutant) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	if m.noDelete {
		_, err := m.Bucket.Attributes(ctx, key)
		return err
	}
	err := m.Bucket.Delete(ctx, m.name(key))
	if err == nil {
		m.remember("", key)
	}
	if m.mildDelete && gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

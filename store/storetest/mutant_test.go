package storetest_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
)

// TestMutants seeds one defect each into a sound bucket. The table of cases must
// notice every one of them, and none without.
func TestMutants(t *testing.T) {
	for _, m := range []struct {
		name string
		seed func(*mutant)
	}{
		{"sound", func(*mutant) {}},
		{"create looks first and writes then", func(m *mutant) { m.racyCreate = true }},
		{"create overwrites", func(m *mutant) { m.blindCreate = true }},
		{"a list drops an entry of the second page", func(m *mutant) {
			m.page = func(list []*driver.ListObject, first bool) []*driver.ListObject {
				if !first && len(list) > 1 {
					return list[1:]
				}
				return list
			}
		}},
		{"a list drops its last entry", func(m *mutant) {
			m.page = func(list []*driver.ListObject, _ bool) []*driver.ListObject { return list[:max(len(list)-1, 0)] }
		}},
		{"a list is not sorted", func(m *mutant) {
			m.page = func(list []*driver.ListObject, _ bool) []*driver.ListObject { slices.Reverse(list); return list }
		}},
		{"a list tells wrong sizes", func(m *mutant) {
			m.page = func(list []*driver.ListObject, _ bool) []*driver.ListObject {
				for _, o := range list {
					o.Size++
				}
				return list
			}
		}},
		{"a list repeats an entry", func(m *mutant) {
			m.page = func(list []*driver.ListObject, _ bool) []*driver.ListObject {
				if len(list) > 2 {
					return slices.Insert(list, 1, list[0])
				}
				return list
			}
		}},
		{"a list shows what is being written", func(m *mutant) { m.listsTemps = true }},
		{"a read ends early, with the size of what it gave", func(m *mutant) { m.read = func(b []byte) []byte { return b[:len(b)-len(b)/50] } }},
		{"a read flips a bit of long objects", func(m *mutant) {
			m.read = func(b []byte) []byte {
				if len(b) > 10_000 {
					b[5000] ^= 1
				}
				return b
			}
		}},
		{"refused access reads as absence", func(m *mutant) { m.refuses = true }},
		{"absence reads as an unknown error", func(m *mutant) { m.hidesAbsence = true }},
		{"a write that failed stays visible", func(m *mutant) { m.keepsBroken = true }},
		{"a long write is cut", func(m *mutant) { m.write = func(b []byte) []byte { return b[:min(len(b), 1<<20)] } }},
		{"keys are not told apart by case", func(m *mutant) { m.key = strings.ToLower }},
		{"keys lose blanks at their end", func(m *mutant) { m.key = func(k string) string { return strings.TrimRight(k, " .") } }},
		{"delete does nothing", func(m *mutant) { m.noDelete = true }},
		{"delete of nothing succeeds", func(m *mutant) { m.mildDelete = true }},
	} {
		t.Run(m.name, func(t *testing.T) {
			results := storetest.Check(t.Context(), func() *store.Store {
				d := &mutant{Bucket: memblob.OpenBucket(nil)}
				m.seed(d)
				s := store.FromBucket(blob.NewBucket(d), "mutant://", &store.Options{MaxAttempts: 2})
				t.Cleanup(func() { s.Close() })
				return s
			})
			for r := range results {
				switch {
				case r.Message == "":
				case m.name == "sound":
					t.Errorf("%s: %s", r.Case, r.Message)
				default:
					t.Logf("noticed by %q: %.150s", r.Case, r.Message)
					return
				}
			}
			if m.name != "sound" {
				t.Error("no case noticed the defect")
			}
		})
	}
}

// mutant is a driver that hands on to a sound bucket, with at most one defect.
type mutant struct {
	*blob.Bucket
	racyCreate, blindCreate, listsTemps, keepsBroken, noDelete, mildDelete, refuses, hidesAbsence bool
	page                                                                                          func(list []*driver.ListObject, first bool) []*driver.ListObject
	read, write                                                                                   func([]byte) []byte
	key                                                                                           func(string) string
}

func (m *mutant) ErrorCode(err error) gcerrors.ErrorCode { return gcerrors.Code(err) }

// found is the error of looking for an object.
func (m *mutant) found(err error) error {
	if m.hidesAbsence && gcerrors.Code(err) == gcerrors.NotFound {
		return errors.New(err.Error())
	}
	return err
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
	return &driver.Attributes{Metadata: a.Metadata, ModTime: a.ModTime, Size: a.Size, ETag: a.ETag}, nil
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
		page.Objects = append(page.Objects, &driver.ListObject{Key: o.Key, ModTime: o.ModTime, Size: o.Size, IsDir: o.IsDir})
	}
	if m.page != nil {
		page.Objects = m.page(page.Objects, len(opts.PageToken) == 0)
	}
	return page, nil
}

func (m *mutant) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	r, err := m.Bucket.NewRangeReader(ctx, m.name(key), offset, length, nil)
	if err != nil {
		return nil, m.found(err)
	}
	if m.refuses && r.Size() > 10_000 { // as gcsblob, which takes 403 for 404
		r.Close()
		_, err := m.Bucket.Attributes(ctx, "refused")
		return nil, err
	}
	if m.read == nil {
		return mutantReader{r, r, r.Size()}, nil
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
	return mutantReader{strings.NewReader(string(body)), r, size}, nil
}

type mutantReader struct {
	io.Reader
	under *blob.Reader
	size  int64
}

func (r mutantReader) Close() error { return r.under.Close() }
func (r mutantReader) As(any) bool  { return false }
func (r mutantReader) Attributes() *driver.ReaderAttributes {
	return &driver.ReaderAttributes{ModTime: r.under.ModTime(), Size: r.size}
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
	return w.m.WriteAll(context.WithoutCancel(w.ctx), w.key, w.body, &w.opts)
}

func (m *mutant) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	if m.noDelete {
		_, err := m.Bucket.Attributes(ctx, key)
		return err
	}
	err := m.Bucket.Delete(ctx, m.name(key))
	if m.mildDelete && gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

func writeCases() []Case {
	return []Case{
		{"put replaces", putReplaces},
		{"a reader sees the old bytes or the new", oldOrNew},
		{"many writers of many keys lose nothing", manyWriters},
		{"replace swaps only what it saw", replace},
		{"of many replacing at once each counts", replaceCounter},
		{"delete removes, and says if there is nothing", deletes},
		{"an ended context changes nothing", canceled},
	}
}

func putReplaces(t T, s *store.Store) {
	for _, body := range []string{"a long first body", "short", "", pattern(9999)} {
		put(t, s, "dir/o", body)
		wantBody(t, s, "dir/o", body)
	}
}

// oldOrNew reads while another goroutine replaces: each body is of one letter.
func oldOrNew(t T, s *store.Store) {
	const size = 200_000
	body := func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%26)}, size) }
	must(t, s.Put(t.Context(), "o", body(0)), "put")
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range Rounds(400) {
			if err := s.Put(t.Context(), "o", body(i)); err != nil {
				t.Errorf("put: %v", err)
				return
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			for running := true; running; {
				select {
				case <-done:
					running = false
				default:
				}
				got, err := s.Get(t.Context(), "o")
				if !s.Capabilities().AtomicPut && (err != nil || len(got) == 0) {
					continue // nothing, or a failure, for a moment; never a part
				}
				if err != nil || len(got) != size || bytes.Count(got, got[:1]) != size {
					t.Errorf("a read during a put yields %d bytes, %v, not one version of %d", len(got), err, size)
					return
				}
			}
		})
	}
	wg.Wait()
}

func manyWriters(t T, s *store.Store) {
	var wg sync.WaitGroup
	const writers = 16
	each := Rounds(200)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				key := store.Key(fmt.Sprintf("w/%d/%d/o", i%3, w*each+i))
				if err := s.Put(t.Context(), key, []byte(key)); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	wg.Wait()
	count := 0
	for o, err := range s.List(t.Context(), "w/") {
		must(t, err, "list")
		wantBody(t, s, o.Key, string(o.Key))
		count++
	}
	if count != writers*each {
		t.Errorf("%d objects are there, want %d", count, writers*each)
	}
}

func replace(t T, s *store.Store) {
	ctx := t.Context()
	put(t, s, "o", "one")
	o, err := s.Stat(ctx, "o")
	must(t, err, "stat")
	if !s.Capabilities().Replace {
		wantKind(t, s.Replace(ctx, "o", []byte("two"), o.Version), store.ErrUnsupported, "replace")
		wantBody(t, s, "o", "one")
		return
	}
	must(t, s.Replace(ctx, "o", []byte("two"), o.Version), "replace")
	wantBody(t, s, "o", "two")
	wantKind(t, s.Replace(ctx, "o", []byte("three"), o.Version), store.ErrConflict, "replace an old version")
	wantBody(t, s, "o", "two")
	wantKind(t, s.Replace(ctx, "none", []byte("x"), o.Version), store.ErrConflict, "replace nothing")
	wantAbsent(t, s, "none")
	wantKind(t, s.Replace(ctx, "o", []byte("x"), ""), store.ErrInvalid, "replace no version")
}

// replaceCounter adds lines by compare-and-swap; each body is new, as Replace
// asks for.
func replaceCounter(t T, s *store.Store) {
	if !s.Capabilities().Replace {
		return
	}
	put(t, s, "o", "start\n")
	const writers = 8
	each := Rounds(100)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; i < each && t.Context().Err() == nil; {
				err := addLine(t.Context(), s, fmt.Sprintf("%d-%d\n", w, i))
				switch {
				case err == nil:
					i++
				case !isConflict(err):
					t.Errorf("replace: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	body, err := s.Get(t.Context(), "o")
	if n := strings.Count(string(body), "\n") - 1; err != nil || n != writers*each {
		t.Errorf("%d of %d replacements are left, %v", n, writers*each, err)
	}
}

func addLine(ctx context.Context, s *store.Store, line string) error {
	r, err := s.Open(ctx, "o")
	if err != nil {
		return err
	}
	defer r.Close()
	body := make([]byte, r.Object().Size)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return s.Replace(ctx, "o", append(body, line...), r.Object().Version)
}

func deletes(t T, s *store.Store) {
	ctx := t.Context()
	put(t, s, "a/b/c", "x")
	put(t, s, "a/b/d", "y")
	must(t, s.Delete(ctx, "a/b/c"), "delete")
	wantAbsent(t, s, "a/b/c")
	wantBody(t, s, "a/b/d", "y")
	wantKind(t, s.Delete(ctx, "a/b/c"), store.ErrNotExist, "delete again")
	wantKind(t, s.Delete(ctx, "never"), store.ErrNotExist, "delete nothing")
	must(t, s.Delete(ctx, "a/b/d"), "delete the last")
	for e, err := range s.ListDir(ctx, "") {
		t.Errorf("a directory without objects is listed: %q, %v", e.Key, err)
	}
	must(t, s.Create(ctx, "a/b/c", []byte("again")), "create what was deleted")
	wantBody(t, s, "a/b/c", "again")
}

func canceled(t T, s *store.Store) {
	put(t, s, "o", "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"put":    s.Put(ctx, "o", []byte("new")),
		"create": s.Create(ctx, "p", []byte("new")),
		"delete": s.Delete(ctx, "o"),
		"get":    second(s.Get(ctx, "o")),
		"stream": second(s.PutFrom(ctx, "o", strings.NewReader(pattern(2<<20)), 2<<20)),
	} {
		wantKind(t, err, context.Canceled, "%s with an ended context", name)
	}
	for _, err := range s.List(ctx, "") {
		wantKind(t, err, context.Canceled, "list with an ended context")
	}
	wantBody(t, s, "o", "old")
	wantAbsent(t, s, "p")
}

func second[A any](_ A, err error) error { return err }

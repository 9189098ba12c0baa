package store_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

const testPart = 64 << 10

// testFile writes a file of that size, no two parts alike.
func testFile(t *testing.T, size int) (path, body string) {
	t.Helper()
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	path, body = filepath.Join(t.TempDir(), "file"), b.String()[:size]
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, body
}

func wantObject(t *testing.T, s *store.Store, key store.Key, want string) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); err != nil || string(got) != want {
		t.Errorf("%s has %d bytes, %v, want %d", key, len(got), err, len(want))
	}
}

// interrupted opens a store whose requests pass through a hook that can be set.
func interrupted(t *testing.T, url string) (*store.Store, *atomic.Pointer[func(r store.Request, do func() error) error]) {
	t.Helper()
	var hook atomic.Pointer[func(r store.Request, do func() error) error]
	return openWith(t, url, &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		if h := hook.Load(); h != nil {
			return (*h)(r, do)
		}
		return do()
	}}), &hook
}

// endAfter cancels at the nth request of a kind; that one and later ones end without
// having been made, so fewer than n are made, however slow the machine is.
func endAfter(op string, n int64, cancel func()) func(store.Request, func() error) error {
	var seen atomic.Int64
	return func(r store.Request, do func() error) error {
		if r.Op == op && seen.Add(1) >= n {
			cancel()
			return context.Canceled
		}
		return do()
	}
}

func unfinished(t *testing.T, s *store.Store) (list []store.Unfinished) {
	t.Helper()
	for u, err := range s.Unfinished(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}

// TestUploadResumes cancels an upload again and again; each goes on where the one
// before was. A fourth part is sent only when one of three has arrived, so each
// attempt adds at least one.
func TestUploadResumes(t *testing.T) {
	for _, url := range []string{"mem://", filepath.Join(t.TempDir(), "store")} {
		s, hook := interrupted(t, url)
		path, body := testFile(t, 20*testPart+17)
		opts := &store.TransferOptions{JournalDir: filepath.Join(t.TempDir(), "notes"), PartSize: testPart, Parallel: 3}
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			h := endAfter("part", 4, cancel)
			hook.Store(&h)
			if _, err := s.Upload(ctx, path, "o", opts); !errors.Is(err, context.Canceled) {
				t.Fatalf("a canceled upload: %v", err)
			}
			if _, err := s.Stat(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) {
				t.Errorf("after it stat says %v", err)
			}
			cancel()
		}
		hook.Store(nil)
		got, err := s.Upload(t.Context(), path, "o", opts)
		if err != nil || got.Resumed < 5*testPart || got.Size != int64(len(body)) || got.Key != "o" {
			t.Errorf("the last upload: %+v, %v", got, err)
		}
		if want := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)); got.CRC32C != want {
			t.Errorf("the checksum is %08x, want %08x", got.CRC32C, want)
		}
		wantObject(t, s, "o", body)
		if begun := s.Stats().Requests["begin"]; begun != 1 {
			t.Errorf("%d uploads were begun, want 1", begun)
		}
		if sent := s.Stats().Up - int64(len(body)); sent > 5*3*testPart {
			t.Errorf("%d bytes were sent again, want at most %d", sent, 5*3*testPart)
		}
		if left, err := os.ReadDir(opts.JournalDir); err != nil || len(left) > 0 || len(unfinished(t, s)) > 0 {
			t.Errorf("what is left: %v, %v, %v", left, err, unfinished(t, s))
		}
	}
}

// TestUploadAfterChange goes on with an upload whose file or whose far side is
// no longer the same.
func TestUploadAfterChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *store.Store, path, notes string)
		begun  int64
	}{
		{"one byte of the file changed", func(t *testing.T, _ *store.Store, path, _ string) { overwrite(t, path, 10, "X") }, 1},
		{"the file grew", func(t *testing.T, _ *store.Store, path, _ string) { overwrite(t, path, 20*testPart, "X") }, 2},
		{"the upload was given up", func(t *testing.T, s *store.Store, _, _ string) { abortAll(t, s) }, 2},
		{"the notes are torn", func(t *testing.T, _ *store.Store, _, notes string) { tear(t, notes) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, hook := interrupted(t, "mem://")
			path, _ := testFile(t, 20*testPart)
			opts := &store.TransferOptions{JournalDir: t.TempDir(), PartSize: testPart, Parallel: 2}
			ctx, cancel := context.WithCancel(t.Context())
			h := endAfter("part", 6, cancel)
			hook.Store(&h)
			if _, err := s.Upload(ctx, path, "o", opts); !errors.Is(err, context.Canceled) {
				t.Fatalf("a canceled upload: %v", err)
			}
			hook.Store(nil)
			c.change(t, s, path, opts.JournalDir)
			if _, err := s.Upload(t.Context(), path, "o", opts); err != nil {
				t.Error(err)
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wantObject(t, s, "o", string(want))
			if begun := s.Stats().Requests["begin"]; begun != c.begun {
				t.Errorf("%d uploads were begun, want %d", begun, c.begun)
			}
			if left := unfinished(t, s); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func overwrite(t *testing.T, path string, offset int64, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(text), offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func abortAll(t *testing.T, s *store.Store) {
	t.Helper()
	for _, u := range unfinished(t, s) {
		if err := errors.Join(s.Abort(t.Context(), u), s.Abort(t.Context(), u)); err != nil {
			t.Error(err)
		}
	}
}

func tear(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	info, err := os.Stat(files[0])
	if err == nil {
		err = os.Truncate(files[0], info.Size()-10)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUploadOfChangingFile changes the file while it is sent.
func TestUploadOfChangingFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"grows":      func(path string) error { return os.Truncate(path, 30*testPart) },
		"shrinks":    func(path string) error { return os.Truncate(path, 3*testPart) },
		"is emptied": func(path string) error { return os.Truncate(path, 0) },
		"is touched": func(path string) error { return os.Chtimes(path, time.Now(), time.Now().Add(time.Second)) },
	} {
		for op, size := range map[string]int{"part": 20 * testPart, "complete": 20 * testPart, "begin": 20 * testPart} {
			s, hook := interrupted(t, "mem://")
			path, _ := testFile(t, size)
			var once atomic.Bool
			h := func(r store.Request, do func() error) error {
				if r.Op == op && once.CompareAndSwap(false, true) {
					if err := change(path); err != nil {
						t.Error(err)
					}
				}
				return do()
			}
			hook.Store(&h)
			_, err := s.Upload(t.Context(), path, "o", &store.TransferOptions{PartSize: testPart})
			if op == "complete" {
				if err != nil {
					t.Errorf("it %s after all was sent: %v", name, err)
				}
				continue
			}
			if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), path) {
				t.Errorf("it %s at %s: error is %v, want ErrConflict that names the file", name, op, err)
			}
			if _, err := s.Stat(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) || len(unfinished(t, s)) > 0 {
				t.Errorf("it %s at %s: stat says %v, %v is left", name, op, err, unfinished(t, s))
			}
		}
	}
}

func TestUploadCreates(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	for _, size := range []int{10, 20 * testPart} {
		path, body := testFile(t, size)
		key := store.Key(fmt.Sprint("o", size))
		opts := &store.TransferOptions{PartSize: testPart, Create: true}
		var lost atomic.Bool
		h := func(r store.Request, do func() error) error {
			err := do()
			if (r.Op == "complete" || r.Op == "create") && err == nil && lost.CompareAndSwap(false, true) {
				return store.ErrUnavailable
			}
			return err
		}
		hook.Store(&h)
		if _, err := s.Upload(t.Context(), path, key, opts); err != nil {
			t.Errorf("of %d bytes, its answer lost: %v", size, err)
		}
		wantObject(t, s, key, body)
		if _, err := s.Upload(t.Context(), path, key, opts); !errors.Is(err, store.ErrExist) {
			t.Errorf("of %d bytes, again: %v, want ErrExist", size, err)
		}
		if left := unfinished(t, s); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// TestTwoUploadsShareNoJournal lets a second one begin while the first goes on.
func TestTwoUploadsShareNoJournal(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	path, body := testFile(t, 20*testPart)
	opts := &store.TransferOptions{JournalDir: t.TempDir(), PartSize: testPart}
	var once atomic.Bool
	h := func(r store.Request, do func() error) error {
		if r.Op == "part" && once.CompareAndSwap(false, true) {
			if _, err := s.Upload(t.Context(), path, "o", opts); err != nil {
				t.Errorf("the second: %v", err)
			}
		}
		return do()
	}
	hook.Store(&h)
	if _, err := s.Upload(t.Context(), path, "o", opts); err != nil {
		t.Errorf("the first: %v", err)
	}
	wantObject(t, s, "o", body)
	if begun := s.Stats().Requests["begin"]; begun != 2 || len(unfinished(t, s)) > 0 {
		t.Errorf("%d uploads were begun, want 2; %v is left", begun, unfinished(t, s))
	}
}

// TestOldJournals drops what nobody went on with.
func TestOldJournals(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	path, _ := testFile(t, 20*testPart)
	opts := &store.TransferOptions{JournalDir: t.TempDir(), PartSize: testPart}
	ctx, cancel := context.WithCancel(t.Context())
	h := endAfter("part", 3, cancel)
	hook.Store(&h)
	if _, err := s.Upload(ctx, path, "o", opts); !errors.Is(err, context.Canceled) || len(unfinished(t, s)) != 1 {
		t.Fatalf("a canceled upload: %v", err)
	}
	hook.Store(nil)
	files, err := filepath.Glob(opts.JournalDir + "/*")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	past := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(files[0], past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), path, "another", opts); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(opts.JournalDir); err != nil || len(left) > 0 || len(unfinished(t, s)) > 0 {
		t.Errorf("what is left: %v, %v, %v", left, err, unfinished(t, s))
	}
}

// TestUploadTreeMixesNothing sends files whose buffers serve one another, and longer ones between them.
func TestUploadTreeMixesNothing(t *testing.T) {
	s := openStore(t, t.TempDir())
	dir := t.TempDir()
	bodies := map[store.Key]string{}
	for i := range 600 {
		name := fmt.Sprintf("f%03d", i)
		body := strings.Repeat(name, []int{0, 1, 1000, 4 << 10, 5 << 10}[i%5])
		bodies[store.Key("t/"+name)] = body
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := s.UploadTree(t.Context(), dir, "t", nil)
	if err != nil || len(sent) != len(bodies) {
		t.Fatalf("%d objects, %v, want %d", len(sent), err, len(bodies))
	}
	for key, body := range bodies {
		if got, err := s.Get(t.Context(), key); err != nil || string(got) != body {
			t.Errorf("%s has %d bytes, %v, want %d that say its name", key, len(got), err, len(body))
		}
	}
}

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

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s has %d bytes, %v, want %d", path, len(got), err, len(want))
	}
}

// wantOnly complains of anything else in a directory.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if fmt.Sprint(found) != fmt.Sprint(names) {
		t.Errorf("the directory holds %q, want %q", found, names)
	}
}

func putText(t *testing.T, s *store.Store, key store.Key, text string) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestDownloadResumes cancels a download again and again; each goes on where the
// one before was.
func TestDownloadResumes(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	_, body := testFile(t, 20*testPart+17)
	putText(t, s, "o", body)
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	opts := &store.TransferOptions{JournalDir: t.TempDir(), PartSize: testPart, Parallel: 2}
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		h := endAfter("get", 5, cancel)
		hook.Store(&h)
		if _, err := s.Download(ctx, "o", path, opts); !errors.Is(err, context.Canceled) {
			t.Fatalf("a canceled download: %v", err)
		}
		if _, err := os.Stat(path); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("after it stat says %v", err)
		}
		cancel()
	}
	hook.Store(nil)
	got, err := s.Download(t.Context(), "o", path, opts)
	if err != nil || got.Resumed < 10*testPart || got.Size != int64(len(body)) || got.Key != "o" {
		t.Errorf("the last download: %+v, %v", got, err)
	}
	if want := crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)); got.CRC32C != want {
		t.Errorf("the checksum is %08x, want %08x", got.CRC32C, want)
	}
	wantFile(t, path, body)
	wantOnly(t, dir, "f")
	if again := s.Stats().Down - int64(len(body)); again > 4*2*testPart {
		t.Errorf("%d bytes were fetched again, want at most %d", again, 4*2*testPart)
	}
}

// TestDownloadAfterChange takes up a download of which something is no longer
// the same.
func TestDownloadAfterChange(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, s *store.Store, dir string)
		resumes bool
	}{
		{"nothing", func(*testing.T, *store.Store, string) {}, true},
		{"the object", func(t *testing.T, s *store.Store, _ string) { putText(t, s, "o", strings.Repeat("new", 10*testPart)) }, false},
		{"a byte of the part file", func(t *testing.T, _ *store.Store, dir string) { overwrite(t, onlyMatch(t, dir, "*.part"), 3, "X") }, true},
		{"the part file is gone", func(t *testing.T, _ *store.Store, dir string) { os.Remove(onlyMatch(t, dir, "*.part")) }, false},
		{"the notes are torn", func(t *testing.T, _ *store.Store, dir string) { os.Truncate(onlyMatch(t, dir, "*.notes"), 30) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, hook := interrupted(t, "mem://")
			_, body := testFile(t, 20*testPart)
			putText(t, s, "o", body)
			dir := t.TempDir()
			opts := &store.TransferOptions{JournalDir: t.TempDir(), PartSize: testPart, Parallel: 1}
			ctx, cancel := context.WithCancel(t.Context())
			h := endAfter("get", 6, cancel)
			hook.Store(&h)
			if _, err := s.Download(ctx, "o", filepath.Join(dir, "f"), opts); !errors.Is(err, context.Canceled) {
				t.Fatalf("a canceled download: %v", err)
			}
			hook.Store(nil)
			c.change(t, s, dir)
			got, err := s.Download(t.Context(), "o", filepath.Join(dir, "f"), opts)
			if err != nil || (got.Resumed > 0) != c.resumes {
				t.Errorf("download: %+v, %v", got, err)
			}
			want, err := s.Get(t.Context(), "o")
			if err != nil {
				t.Fatal(err)
			}
			wantFile(t, filepath.Join(dir, "f"), string(want))
			wantOnly(t, dir, "f")
		})
	}
}

func onlyMatch(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".heirloom-"+pattern))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// TestDownloadFaults fails at a request and looks at what is left.
func TestDownloadFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(s *store.Store, cancel func()) error
		want  error
	}{
		{"refused", func(*store.Store, func()) error { return store.ErrPermission }, store.ErrPermission},
		{"canceled", func(_ *store.Store, cancel func()) error { cancel(); return nil }, context.Canceled},
		{"no space", func(*store.Store, func()) error { return store.ErrNoSpace }, store.ErrNoSpace},
		{"unavailable once", func(*store.Store, func()) error { return store.ErrUnavailable }, nil},
		{"replaced", func(s *store.Store, _ func()) error {
			return s.Put(t.Context(), "o", []byte(strings.Repeat("new", 20*testPart)))
		}, nil},
		{"deleted", func(s *store.Store, _ func()) error { return s.Delete(t.Context(), "o") }, store.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, hook := interrupted(t, "mem://")
			_, body := testFile(t, 20*testPart)
			putText(t, s, "o", body)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var n atomic.Int64
			h := func(r store.Request, do func() error) error {
				if r.Op == "get" && n.Add(1) == 5 {
					hook.Store(nil)
					if err := c.fault(s, cancel); err != nil {
						return err
					}
				}
				return do()
			}
			hook.Store(&h)
			dir := t.TempDir()
			_, err := s.Download(ctx, "o", filepath.Join(dir, "f"), &store.TransferOptions{PartSize: testPart})
			if !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if c.want != nil {
				wantOnly(t, dir)
				return
			}
			want, err := s.Get(t.Context(), "o")
			if err != nil {
				t.Fatal(err)
			}
			wantFile(t, filepath.Join(dir, "f"), string(want))
			wantOnly(t, dir, "f")
		})
	}
}

func TestDownloadCreates(t *testing.T) {
	s := openStore(t, "mem://")
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 0, "b": 10, "c": 20 * testPart} {
		_, body := testFile(t, size)
		putText(t, s, store.Key(name), body)
		opts := &store.TransferOptions{PartSize: testPart, Create: true}
		path := filepath.Join(dir, name)
		if _, err := s.Download(t.Context(), store.Key(name), path, opts); err != nil {
			t.Error(err)
		}
		if _, err := s.Download(t.Context(), store.Key(name), path, opts); !errors.Is(err, store.ErrExist) {
			t.Errorf("over a file of %d bytes: %v, want ErrExist", size, err)
		}
		wantFile(t, path, body)
	}
	wantOnly(t, dir, "a", "b", "c")
}

// TestDownloadKeepsOutOfLinks has links where files and directories are to go.
func TestDownloadKeepsOutOfLinks(t *testing.T) {
	s := openStore(t, "mem://")
	dir, outside := t.TempDir(), t.TempDir()
	putText(t, s, "t/file", "new")
	putText(t, s, "t/sub/file", "new")
	victim := filepath.Join(outside, "victim")
	err := errors.Join(os.WriteFile(victim, []byte("old"), 0o600), os.Symlink(victim, filepath.Join(dir, "file")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Download(t.Context(), "t/file", filepath.Join(dir, "file"), nil); err != nil {
		t.Error(err)
	}
	wantFile(t, filepath.Join(dir, "file"), "new")
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DownloadTree(t.Context(), "t", dir, nil); err == nil {
		t.Error("a tree came down through a link that leads out")
	}
	wantFile(t, victim, "old")
	wantOnly(t, outside, "victim")
	for _, path := range []string{"", ".", "..", dir, dir + "/", dir + "/.."} {
		if _, err := s.Download(t.Context(), "t/file", path, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("to %q: error is %v, want ErrInvalid", path, err)
		}
	}
}

// TestTransferProgress wants totals that are right at the end.
func TestTransferProgress(t *testing.T) {
	s := openStore(t, "mem://")
	dir := t.TempDir()
	for i := range 5 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, i*testPart), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var last store.Progress
	opts := &store.TransferOptions{PartSize: testPart, Progress: func(p store.Progress) { last = p }}
	want := store.Progress{Files: 5, FilesTotal: 5, Bytes: 10 * testPart, BytesTotal: 10 * testPart}
	for name, move := range map[string]func() error{
		"up":   func() error { return second(s.UploadTree(t.Context(), dir, "t", opts)) },
		"down": func() error { return second(s.DownloadTree(t.Context(), "t", t.TempDir(), opts)) },
	} {
		if name == "down" {
			if _, err := s.UploadTree(t.Context(), dir, "t", nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := move(); err != nil {
			t.Fatal(err)
		}
		if last.Rate <= 0 {
			t.Errorf("%s: the rate is %v", name, last.Rate)
		}
		last.Rate = 0
		if last != want {
			t.Errorf("%s: %+v, want %+v", name, last, want)
		}
	}
}

// TestDownloadTreeClearsTheDead finds part files of small objects, of one process that was killed and of one that is at
// work.
func TestDownloadTreeClearsTheDead(t *testing.T) {
	s := openStore(t, "mem://")
	dir := t.TempDir()
	putText(t, s, "t/sub/file", "new")
	sub := filepath.Join(dir, "sub")
	dead, alive, other := filepath.Join(sub, ".heirloom-whole-dead.part"), filepath.Join(sub, ".heirloom-whole-live.part"), filepath.Join(sub, ".heirloom-long.part")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dead, alive, other} {
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(alive, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if locked, err := filelock.Try(f); !locked || err != nil {
		t.Skip("no locks here", err)
	}
	if _, err := s.DownloadTree(t.Context(), "t", dir, nil); err != nil {
		t.Error(err)
	}
	wantFile(t, filepath.Join(sub, "file"), "new")
	wantOnly(t, sub, filepath.Base(other), filepath.Base(alive), "file")
}

// TestDownloadTreeMeetsChanges has objects grow after they were listed, and a directory in the way.
func TestDownloadTreeMeetsChanges(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	dir := t.TempDir()
	putText(t, s, "t/a", "small")
	putText(t, s, "t/b", "small")
	long := strings.Repeat("long", 20*testPart)
	h := func(r store.Request, do func() error) error {
		if r.Op == "get" {
			hook.Store(nil)
			putText(t, s, "t/a", long)
			putText(t, s, "t/b", long)
		}
		return do()
	}
	hook.Store(&h)
	var last store.Progress
	if _, err := s.DownloadTree(t.Context(), "t", dir, &store.TransferOptions{Parallel: 1, Progress: func(p store.Progress) { last = p }}); err != nil {
		t.Error(err)
	}
	wantFile(t, filepath.Join(dir, "a"), long)
	wantFile(t, filepath.Join(dir, "b"), long)
	wantOnly(t, dir, "a", "b")
	if last.Bytes != last.BytesTotal || last.Bytes != 2*int64(len(long)) || last.Files != 2 {
		t.Errorf("progress is %+v", last)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "a")), os.Mkdir(filepath.Join(dir, "a"), 0o755)); err != nil {
		t.Fatal(err)
	}
	putText(t, s, "t/a", "small")
	if _, err := s.DownloadTree(t.Context(), "t", dir, nil); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "a is a directory") {
		t.Errorf("over a directory: %v", err)
	}
	wantOnly(t, dir, "a", "b")
}

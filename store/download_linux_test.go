package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/heirloom-ml/heirloom/store"
)

// TestDownloadToFullDisk wants a refusal before anything is fetched where the
// size is known, and nothing left in any case.
func TestDownloadToFullDisk(t *testing.T) {
	dir := mountTmpfs(t, "size=256k")
	s := openStore(t, "mem://")
	putText(t, s, "o", strings.Repeat("x", 1<<20))
	for _, part := range []int64{testPart, 2 << 20} {
		_, err := s.Download(t.Context(), "o", filepath.Join(dir, "f"), &store.TransferOptions{PartSize: part, JournalDir: t.TempDir()})
		if !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("in ranges of %d: error is %v, want ErrNoSpace", part, err)
		}
		wantOnly(t, dir)
	}
	if n := s.Stats().Requests["get"]; n != 1 {
		t.Errorf("%d requests fetched bytes, want that of the whole alone", n)
	}
}

// TestUploadOfOddFiles wants a clear refusal, at once.
func TestUploadOfOddFiles(t *testing.T) {
	s := openStore(t, "mem://")
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, text string
		kind       error
	}{
		{pipe, "named pipe", store.ErrInvalid},
		{link, "symbolic link", store.ErrInvalid},
		{dir, "a directory", store.ErrInvalid},
		{"/dev/null", "a device", store.ErrInvalid},
		{filepath.Join(dir, "none"), "no such file", store.ErrNotExist},
	} {
		_, err := s.Upload(t.Context(), c.path, "o", nil)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("upload of %s: %v, want %q", c.path, err, c.text)
		}
	}
	got, err := s.UploadTree(t.Context(), dir, "t", nil)
	if err != nil || len(got) != 1 || got[0].Key != "t/file" {
		t.Errorf("the tree: %v, %v", got, err)
	}
}

// TestUploadOfUnreadableFile reads as a user whom the file is closed to, on a thread that ends with it.
func TestUploadOfUnreadableFile(t *testing.T) {
	const nobody = 65534
	s := openStore(t, "mem://")
	dir := t.TempDir()
	for name, size := range map[string]int{"small": 10, "long": 3 * testPart} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0); err != nil {
			t.Fatal(err)
		}
	}
	opts := &store.TransferOptions{PartSize: testPart, JournalDir: t.TempDir()}
	for name, upload := range map[string]func() error{
		"small": func() error { return second(s.Upload(t.Context(), filepath.Join(dir, "small"), "o", opts)) },
		"long":  func() error { return second(s.Upload(t.Context(), filepath.Join(dir, "long"), "o", opts)) },
	} {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // for good: the thread is not to be used again
			unix.Setfsuid(nobody)
			done <- upload()
		}()
		if err := <-done; !errors.Is(err, store.ErrPermission) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%s: error is %v, want ErrPermission that names the file", name, err)
		}
	}
	if requests := s.Stats().Total(); requests > 0 {
		t.Errorf("%d requests were made for files that cannot be read", requests)
	}
	wantOnly(t, opts.JournalDir)
}

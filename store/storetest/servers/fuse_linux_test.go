package servers

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSequentialFUSE holds the stand-in to what it says it refuses.
func TestSequentialFUSE(t *testing.T) {
	dir := SequentialFUSE(t)
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("in sequence"); err != nil {
		t.Error(err)
	}
	_, back := f.WriteAt([]byte("x"), 0)
	_, ahead := f.WriteAt([]byte("x"), 100)
	refused := map[string]error{
		"a write at the start": back, "a write behind the end": ahead, "a flush": f.Sync(), "a cut": f.Truncate(3),
		"a lock": unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), "a change of mode": f.Chmod(0o644),
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	_, appending := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	_, reading := os.OpenFile(other, os.O_RDWR|os.O_CREATE, 0o600)
	refused["a link"] = os.Link(file, other)
	refused["a symbolic link"] = os.Symlink(file, other)
	refused["appending"] = appending
	refused["writing and reading"] = reading
	refused["an attribute"] = unix.Setxattr(file, "user.x", []byte("y"), 0)
	refused["a rename that does not replace"] = unix.Renameat2(unix.AT_FDCWD, file, unix.AT_FDCWD, other, unix.RENAME_NOREPLACE)
	for what, err := range refused {
		if err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
	if err := os.Rename(file, other); err != nil {
		t.Errorf("rename: %v", err)
	}
	if body, err := os.ReadFile(other); err != nil || string(body) != "in sequence" {
		t.Errorf("%q, %v", body, err)
	}
	renameless := RenamelessFUSE(t)
	if err := os.WriteFile(filepath.Join(renameless, "a"), nil, 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Rename(filepath.Join(renameless, "a"), filepath.Join(renameless, "b")); !errors.Is(err, syscall.ENOSYS) {
		t.Errorf("rename: %v, want ENOSYS", err)
	}
}

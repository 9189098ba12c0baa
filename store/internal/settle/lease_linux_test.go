package settle

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A lease tells who writes, however long ago the file was changed, and is given
// back: who opens the file for writing afterwards does not wait.
func TestWriters(t *testing.T) {
	j, f, now := judged(t, "f")
	needLeases(t, f)
	if state := writers(f); state != closed {
		t.Errorf("while nobody has it open: %v", state)
	}
	w, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(24 * time.Hour)
	if got := j.Busy("f", f, IdentityOf(info), true); got != "it is open for writing" {
		t.Errorf("while it is open: %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if state := writers(f); state != closed {
		t.Errorf("after its close: %v", state)
	}
	// The close was seen, and stillness need not tell.
	*now = now.Add(-24 * time.Hour).Add(2 * tick)
	j.Begin()
	if got := j.Busy("f", f, IdentityOf(info), false); got != "" {
		t.Errorf("once it was closed: %q", got)
	}
}

// needLeases skips where the file system has no leases, which the kernel tells by EINVAL.
func needLeases(t *testing.T, f *os.File) {
	t.Helper()
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if errors.Is(err, unix.EINVAL) {
		t.Skip("the file system of the temporary directory has no leases")
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	if err != nil {
		t.Fatal(err)
	}
}

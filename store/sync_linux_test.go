package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heirloom-ml/heirloom/store"
)

// A file is not sent while anyone has it open for writing, however long it has
// stood still, and without waiting once it was closed or renamed into place.
func TestSyncSeesWriters(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{Stable: 24 * time.Hour})
	m.write("data", "first half, ")
	f, err := os.OpenFile(filepath.Join(m.dir, "data"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m.write("next.tmp", "renamed")
	for range 2 {
		r := m.pass()
		if r.Uploaded != 0 || len(r.Waiting) != 2 || !strings.Contains(r.Waiting[0].Reason, "open for writing") {
			t.Fatalf("got %+v", r)
		}
	}
	if _, err := f.WriteString("second half"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.Rename(filepath.Join(m.dir, "next.tmp"), filepath.Join(m.dir, "next"))); err != nil {
		t.Fatal(err)
	}
	if r := m.pass(); r.Uploaded != 2 {
		t.Fatalf("got %+v", r)
	}
	m.want(map[string]string{"data": "first half, second half", "next": "renamed"})
}

// Pipes are named and never waited for, nor is a file that may not be read.
func TestSyncOddFiles(t *testing.T) {
	m := newMirror(t, openStore(t, "mem://"), store.SyncOptions{})
	m.write("a", "a")
	if err := unix.Mkfifo(filepath.Join(m.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.write("new\nline", "x")
	m.write("secret", "s")
	if err := os.Chmod(filepath.Join(m.dir, "secret"), 0); err != nil {
		t.Fatal(err)
	}
	r, err := m.y.Final(t.Context())
	if os.Geteuid() == 0 {
		m.want(map[string]string{"a": "a", "secret": "s"})
	} else {
		m.want(map[string]string{"a": "a"})
		if !errors.Is(err, store.ErrPermission) || !strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
	if len(r.Skipped) != 2 || r.Skipped[0].Path != "new\nline" || r.Skipped[1].Path != "pipe" {
		t.Errorf("got %+v", r.Skipped)
	}
}

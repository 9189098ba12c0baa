package local

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fullable makes a scheduler whose state is on a disk of its own, and a function that
// leaves that disk this many bytes.
func fullable(t *testing.T) (*Scheduler, func(left int)) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, err := New(testOptions(filepath.Join(dir, "state")))
	if err != nil {
		t.Fatal(err)
	}
	return s, func(left int) {
		filler := filepath.Join(dir, "filler")
		if err := os.WriteFile(filler, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filler, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var size int64
		for chunk := bytes.Repeat([]byte{1}, 4096); ; {
			n, err := f.Write(chunk)
			size += int64(n)
			if err != nil {
				break
			}
		}
		if err := f.Truncate(max(0, size-int64(left))); err != nil {
			t.Fatal(err)
		}
	}
}

// An app is not submitted where its state has no room: that is said, and nothing stays.
func TestNoRoomForTheState(t *testing.T) {
	s, leave := fullable(t)
	plan, err := planned(t, s, nil, shRole("a", 1, "true"))
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 4 << 10, 8 << 10, 16 << 10} {
		leave(left)
		_, err := s.Submit(t.Context(), plan)
		_, err2 := s.RunForeground(t.Context(), plan, Foreground{})
		for _, err := range []error{err, err2} {
			if !errors.Is(err, store.ErrNoSpace) || !strings.Contains(err.Error(), "keep state of local app") || strings.Count(err.Error(), "no space left") != 1 {
				t.Errorf("with %d bytes left: got %v", left, err)
			}
		}
		if entries, err := os.ReadDir(s.opts.StateDir); len(entries) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("with %d bytes left: %v stay, %v", left, entries, err)
		}
	}
}

// A disk that fills up while an app runs does not take away how it ended.
func TestDiskOfTheStateFillsUp(t *testing.T) {
	s, leave := fullable(t)
	root := t.TempDir()
	role := shRole("a", 2, `while [ ! -e `+root+`/go ]; do sleep 0.01; done; [ $HEIRLOOM_REPLICA = 0 ] || exit 7`)
	plan, err := planned(t, s, nil, role)
	if err != nil {
		t.Fatal(err)
	}
	plan.Recording.Store = filepath.Join(root, "store")
	if _, err := s.Submit(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	leave(0)
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	status := waited(t, s, plan.Handle)
	if status.State != tracker.Failed || status.ExitCode() != 7 {
		t.Errorf("got %+v", status)
	}
	for _, r := range status.Roles[0].Replicas {
		if want := 7 * r.ID; r.ExitCode == nil || *r.ExitCode != want {
			t.Errorf("replica %d: got %+v", r.ID, r)
		}
	}
	l, err := s.newest(plan.Handle)
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := filepath.Glob(filepath.Join(l.dir, "*", "*", "*", ".new-*"))
	more, _ := filepath.Glob(filepath.Join(l.dir, ".new-*"))
	if entries = append(entries, more...); len(entries) > 0 || l.has(reserveFile) {
		t.Errorf("left over: %v", entries)
	}
	if err := s.Delete(t.Context(), plan.Handle, runner.CancelOptions{}); err != nil || exists(s.appDir(plan.Handle)) {
		t.Errorf("delete: %v", err)
	}
}

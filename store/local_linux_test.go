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
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestNoPermission works as a user who may not touch the directory.
func TestNoPermission(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	s := openStore(t, dir)
	if err := errors.Join(s.Put(t.Context(), "closed/o", []byte("x")), os.Chmod(closed, 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(closed, 0o700); err != nil {
			t.Error(err)
		}
	})
	failed := make(chan map[string]error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		if err := becomeNobody(dir); err != nil {
			t.Error(err)
		}
		failed <- tryClosed(t, s)
	}()
	for verb, err := range <-failed {
		if !errors.Is(err, store.ErrPermission) || errors.Is(err, store.ErrNotExist) {
			t.Errorf("%s: error is %v, want ErrPermission", verb, err)
		}
	}
}

// becomeNobody makes this thread one of a user without rights in files, where
// it is root's.
func becomeNobody(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		return err
	}
	return errors.Join(unix.Setfsgid(nobody), unix.Setfsuid(nobody))
}

func tryClosed(t *testing.T, s *store.Store) map[string]error {
	ctx := t.Context()
	results := map[string]error{
		"get":    second(s.Get(ctx, "closed/o")),
		"stat":   second(s.Stat(ctx, "closed/o")),
		"put":    s.Put(ctx, "closed/o", nil),
		"create": s.Create(ctx, "closed/p", nil),
		"delete": s.Delete(ctx, "closed/o"),
		"list":   nil,
	}
	for _, err := range s.ListDir(ctx, "closed") {
		results["list"] = err
	}
	return results
}

func TestFullDisk(t *testing.T) {
	dir := mountTmpfs(t, "size=256k")
	s := openStore(t, dir)
	old := strings.Repeat("a", 1000)
	if err := s.Put(t.Context(), "o", []byte(old)); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("b", 1<<20)
	for verb, err := range map[string]error{
		"put":    s.Put(t.Context(), "o", []byte(big)),
		"create": s.Create(t.Context(), "p", []byte(big)),
		"stream": second(s.PutFrom(t.Context(), "o", strings.NewReader(big+big), 2<<20)),
	} {
		if !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("%s: error is %v, want ErrNoSpace", verb, err)
		}
	}
	if got, err := s.Get(t.Context(), "o"); err != nil || string(got) != old {
		t.Errorf("the old object has %d bytes, %v", len(got), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the failed writes left %v, %v", left, err)
	}
	if err := s.Put(t.Context(), "small", []byte("fits")); err != nil {
		t.Errorf("a small object: %v", err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	dir := mountTmpfs(t, "")
	s := openStore(t, dir)
	if err := s.Put(t.Context(), "o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for verb, err := range map[string]error{
		"put": s.Put(t.Context(), "o", nil), "create": s.Create(t.Context(), "p", nil), "delete": s.Delete(t.Context(), "o"),
	} {
		if !errors.Is(err, store.ErrPermission) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s: error is %v, want ErrPermission for a read-only file system", verb, err)
		}
	}
	if got, err := s.Get(t.Context(), "o"); err != nil || string(got) != "x" {
		t.Errorf("get: %q, %v", got, err)
	}
}

// mountTmpfs makes a file system for the test.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("heirloom-test", dir, "tmpfs", 0, options); err != nil {
		servers.Missing(t, err, "run the tests as root", "mount")
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

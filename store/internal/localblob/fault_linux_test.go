package localblob

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// smallDisk mounts a file system of a few pages.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mountSmall(t, dir)
	return dir
}

func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		servers.Missing(t, err, "run as root, where mounts are permitted", "mount")
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func TestFullDisk(t *testing.T) {
	b := openTest(t, smallDisk(t))
	put(t, b, "d/old")
	big := bytes.Repeat([]byte("x"), 1<<20)
	for _, mode := range []dirtree.Mode{dirtree.Replace, dirtree.Create} {
		key := map[dirtree.Mode]string{dirtree.Replace: "d/old", dirtree.Create: "d/new"}[mode]
		if _, err := b.writeAll(t.Context(), key, big, mode); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v, want ENOSPC", err)
		}
		wantNoTemps(t, b)
	}
	if body, err := os.ReadFile(b.Path("d/old")); err != nil || string(body) != "d/old" {
		t.Errorf("old version %q, %v", body, err)
	}
	if got := keysOf(t, b, ""); !slices.Equal(got, []string{"d/old"}) {
		t.Errorf("keys %q", got)
	}
	line := string(bytes.Repeat([]byte("l"), 1<<20))
	if err := b.AppendLines(t.Context(), "d/old", []string{line}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("AppendLines: %v, want ENOSPC", err)
	}
	if body, err := os.ReadFile(b.Path("d/old")); err != nil || string(body) != "d/old\n" {
		t.Errorf("after a short append: %d bytes, %v", len(body), err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t)
	b := openTest(t, dir)
	put(t, b, "k")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "k", []byte("new")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Put: %v, want EROFS", err)
	}
	if err := b.AppendLines(t.Context(), "k", []string{"x"}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("AppendLines: %v, want EROFS", err)
	}
	if body, err := os.ReadFile(b.Path("k")); err != nil || string(body) != "k" {
		t.Errorf("old version %q, %v", body, err)
	}
	wantNoTemps(t, b)
}

func TestOtherFileSystemBelow(t *testing.T) {
	b := openTest(t, t.TempDir())
	below := filepath.Join(b.Dir(), "mounted")
	if err := os.Mkdir(below, 0o750); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, below)
	for _, mode := range []dirtree.Mode{dirtree.Replace, dirtree.Create} {
		if _, err := b.writeAll(t.Context(), "mounted/k", nil, mode); !errors.Is(err, syscall.EXDEV) {
			t.Errorf("error %v, want EXDEV", err)
		}
	}
	wantNoTemps(t, b)
}

// asNobody runs do on a thread that has no rights beyond those of an ordinary user.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

func TestNoPermission(t *testing.T) {
	dir := t.TempDir()
	b := openTest(t, dir)
	put(t, b, "a/k", "locked/k", "z")
	for _, mode := range []struct {
		dir  string
		mode fs.FileMode
	}{{"locked", 0}, {".", 0o555}} {
		if err := os.Chmod(filepath.Join(dir, mode.dir), mode.mode); err != nil {
			t.Fatal(err)
		}
	}
	for p := filepath.Dir(dir); p != os.TempDir() && len(p) > 1; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "locked"), 0o755) })
	asNobody(t, func() {
		if _, err := b.Put(t.Context(), "k", nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Put: %v", err)
		}
		if _, err := b.Stat(t.Context(), "locked/k"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Stat below a locked directory: %v", err)
		}
		var keys []string
		var last error
		for o, err := range b.Walk(t.Context(), "") {
			if last != nil {
				t.Error("the listing went on behind its error")
			}
			keys, last = append(keys, o.Key), err
		}
		if !errors.Is(last, fs.ErrPermission) {
			t.Errorf("Walk over a locked directory: %v, after %q", last, keys)
		}
	})
	wantNoTemps(t, b)
}

func TestModes(t *testing.T) {
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	for _, tt := range []struct {
		name      string
		make      func(dir string) error
		opts      *Options
		dir, file fs.FileMode
	}{
		{"new directory", func(string) error { return nil }, nil, 0o750, 0o640},
		{"new shared directory", func(string) error { return nil }, &Options{Shared: true}, 0o770 | fs.ModeSetgid, 0o660},
		{"shared directory", func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o770|fs.ModeSetgid)) }, nil, 0o770 | fs.ModeSetgid, 0o660},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			b, err := Open(dir, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			put(t, b, "d/e/k")
			for p, want := range map[string]fs.FileMode{"": tt.dir, "d": tt.dir, "d/e": tt.dir, "d/e/k": tt.file} {
				info, err := os.Stat(filepath.Join(dir, p))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode() & (fs.ModePerm | fs.ModeSetgid); got != want {
					t.Errorf("%q has mode %v, want %v", p, got, want)
				}
			}
		})
	}
}

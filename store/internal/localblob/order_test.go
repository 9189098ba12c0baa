package localblob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

// record makes b note its decisive calls in the order they are made; fail may turn one into an error.
func record(b *Bucket, fail map[string]error) *[]string {
	var calls []string
	note := func(call string, do func() error) error {
		calls = append(calls, call)
		if err := fail[strings.Fields(call)[0]]; err != nil {
			return err
		}
		return do()
	}
	name := func(p string) string {
		if strings.Contains(p, keyname.TempStart) {
			return "temp"
		}
		if rel, err := filepath.Rel(b.dir, p); err == nil && filepath.IsAbs(p) {
			return filepath.ToSlash(rel)
		}
		return p
	}
	real := realSystem
	b.sys = system{
		write: func(f *os.File, p []byte) (n int, err error) {
			err = note("write "+name(f.Name()), func() (err error) { n, err = real.write(f, p); return err })
			return n, err
		},
		syncFile: func(f *os.File) error { return note("sync "+name(f.Name()), func() error { return real.syncFile(f) }) },
		syncDir: func(f *os.File) error {
			return note("syncdir "+name(f.Name()), func() error { return real.syncDir(f) })
		},
		link: func(n naming) error {
			return note("link "+name(n.temp)+" "+n.path, func() error { return real.link(n) })
		},
		renameNew: func(n naming) error {
			return note("renamenew "+name(n.temp)+" "+n.path, func() error { return real.renameNew(n) })
		},
		renameOver: func(n naming) error {
			return note("rename "+name(n.temp)+" "+n.path, func() error { return real.renameOver(n) })
		},
	}
	return &calls
}

func TestOrderOfCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(b *Bucket) error
		want string
	}{
		"put": {func(b *Bucket) error { _, err := b.Put(t.Context(), "a/k", []byte("x")); return err },
			"write temp, sync temp, rename temp a/k, syncdir a, syncdir ."},
		"create": {func(b *Bucket) error { _, err := b.Create(t.Context(), "a/b/k", []byte("x")); return err },
			"write temp, sync temp, link temp a/b/k, syncdir a/b, syncdir a, syncdir ."},
		"known directory": {func(b *Bucket) error { b.setSynced("a"); _, err := b.Put(t.Context(), "k", nil); return err },
			"write temp, sync temp, rename temp k, syncdir ."},
		"first line": {func(b *Bucket) error { return b.AppendLines(t.Context(), "k", []string{"one", "two"}) },
			"write temp, sync temp, link temp k, syncdir ."},
		"delete": {func(b *Bucket) error {
			put(t, openTest(t, b.dir), "a/b/c", "a/d")
			return b.Delete(t.Context(), "a/b/c", nil)
		}, "syncdir a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := openTest(t, t.TempDir())
			calls := record(b, nil)
			if err := tt.do(b); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(*calls, ", "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			wantNoTemps(t, b)
		})
	}
}

func TestAppendOrder(t *testing.T) {
	b := openTest(t, t.TempDir())
	if err := os.WriteFile(b.Path("k"), []byte("one\ntor"), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := record(b, nil)
	if err := b.AppendLines(t.Context(), "k", []string{"one", "two", "", "two"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"write k", "write k", "write k", "sync k", "syncdir ."}
	if !slices.Equal(*calls, want) {
		t.Errorf("got %q, want %q", *calls, want)
	}
	if body, err := os.ReadFile(b.Path("k")); err != nil || string(body) != "one\ntor\ntwo\n\n" {
		t.Errorf("body %q, %v", body, err)
	}
}

func TestFailedStepLeavesTheOldVersion(t *testing.T) {
	for _, tt := range []struct {
		step     string
		err      error
		mode     dirtree.Mode
		survives bool // the new version is visible in spite of the error
	}{
		{"write", syscall.ENOSPC, dirtree.Replace, false},
		{"sync", syscall.EIO, dirtree.Replace, false},
		{"sync", syscall.EIO, dirtree.Create, false},
		{"rename", syscall.EIO, dirtree.Replace, false},
		{"link", syscall.EIO, dirtree.Create, false},
		{"syncdir", syscall.EIO, dirtree.Replace, true},
	} {
		t.Run(tt.step, func(t *testing.T) {
			b := openTest(t, t.TempDir())
			if tt.mode == dirtree.Replace {
				if _, err := b.Put(t.Context(), "k", []byte("old")); err != nil {
					t.Fatal(err)
				}
			}
			record(b, map[string]error{tt.step: tt.err})
			if _, err := b.writeAll(t.Context(), "k", []byte("new"), tt.mode); !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			wantNoTemps(t, b)
			body, err := os.ReadFile(b.Path("k"))
			switch {
			case tt.mode == dirtree.Create && !errors.Is(err, fs.ErrNotExist):
				t.Errorf("a failed Create left %q, %v", body, err)
			case tt.mode == dirtree.Replace && (string(body) == "new") != tt.survives:
				t.Errorf("a failed Put left %q", body)
			}
		})
	}
}

func TestLinkRefused(t *testing.T) {
	for _, refusal := range []error{syscall.EPERM, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		b := openTest(t, t.TempDir())
		calls := record(b, map[string]error{"link": refusal})
		if err := realSystem.renameNew(noneNamed(t, b, "k")); errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this system has no other exclusive creation")
		}
		for _, key := range []string{"a", "b"} {
			if _, err := b.Create(t.Context(), key, []byte(key)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Create(t.Context(), "a", []byte("again")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("second Create: %v", err)
		}
		if n := strings.Count(strings.Join(*calls, "\n"), "link temp"); n != 1 {
			t.Errorf("link was tried %d times, want once", n)
		}
		if !b.Capabilities().Create {
			t.Error("exclusive creation is said to be missing")
		}
		wantNoTemps(t, b)
	}
}

func TestNoExclusiveCreation(t *testing.T) {
	b := openTest(t, t.TempDir())
	record(b, map[string]error{"link": syscall.EPERM, "renamenew": syscall.EINVAL})
	if _, err := b.Create(t.Context(), "k", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Create: %v, want unsupported", err)
	}
	if got, err := b.Probe(t.Context()); got.Create || err != nil {
		t.Errorf("Probe = %+v, %v", got, err)
	}
	if got := keysOf(t, b, ""); got != nil {
		t.Errorf("a refused Create left %q", got)
	}
	wantNoTemps(t, b)
	put(t, b, "k")
}

func TestDirectoriesThatCannotBeSynced(t *testing.T) {
	b := openTest(t, t.TempDir())
	record(b, map[string]error{"syncdir": syscall.EINVAL})
	put(t, b, "k")
	if b.Capabilities().Durable {
		t.Error("durability is promised where directories cannot be synced")
	}
}

// TestRepeatedLink is the answer of a network file system that has carried out a request and repeats it.
func TestRepeatedLink(t *testing.T) {
	b := openTest(t, t.TempDir())
	b.sys.link = func(n naming) error {
		if err := realSystem.link(n); err != nil {
			return err
		}
		return realSystem.link(n)
	}
	if _, err := b.Create(t.Context(), "k", []byte("x")); err != nil {
		t.Errorf("the winner was told: %v", err)
	}
	if _, err := b.Create(t.Context(), "k", []byte("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the loser was told: %v", err)
	}
	wantNoTemps(t, b)
}

// noneNamed would name a temporary file that is not there.
func noneNamed(t *testing.T, b *Bucket, path string) naming {
	t.Helper()
	root, err := b.writer()
	if err != nil {
		t.Fatal(err)
	}
	_, top := b.opened()
	return naming{root: root, top: top, temp: "none", dir: top, path: path}
}

//go:build !windows

package localblob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestLinksAndOddFiles(t *testing.T) {
	top := t.TempDir()
	outside := filepath.Join(top, "outside")
	if err := os.Mkdir(outside, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openTest(t, filepath.Join(top, "store"))
	put(t, b, "d/real")
	for name, target := range map[string]string{
		"out-file": "../outside/secret", "out-dir": "../outside", "absolute": filepath.Join(outside, "secret"),
		"in-file": "d/real", "in-dir": "d", "dangling": "none", "loop": "loop",
	} {
		if err := os.Symlink(target, b.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(b.Path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}

	if got, want := keysOf(t, b, ""), []string{"d/real", "in-file"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got := keysOf(t, b, "in-dir/"); got != nil {
		t.Errorf("a listing descends into a linked directory: %q", got)
	}
	for _, key := range []string{"out-file", "absolute", "out-dir/secret"} {
		if _, _, err := b.OpenFile(t.Context(), key); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("OpenFile(%s): %v", key, err)
		}
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Stat(%s): %v", key, err)
		}
		if err := b.AppendLines(t.Context(), key, []string{"x"}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("AppendLines(%s): %v", key, err)
		}
	}
	if _, err := b.Put(t.Context(), "out-dir/new", nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Put through a link: %v", err)
	}
	if err := b.Delete(t.Context(), "out-dir/secret", nil); err == nil {
		t.Error("Delete through a link succeeded")
	}
	for _, key := range []string{"pipe", "loop"} {
		if _, _, err := b.OpenFile(t.Context(), key); err == nil {
			t.Errorf("OpenFile(%s) succeeded", key)
		}
	}
	put(t, b, "out-file") // replaces the link, not what it leads to
	if body, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(body) != "secret" {
		t.Errorf("outside: %q, %v", body, err)
	}
	wantNoTemps(t, b)
}

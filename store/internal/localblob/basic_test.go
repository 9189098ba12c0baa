package localblob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

func openTest(t *testing.T, dir string) *Bucket {
	t.Helper()
	b, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func keysOf(t *testing.T, b *Bucket, prefix string) []string {
	t.Helper()
	var keys []string
	for o, err := range b.Walk(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

func put(t *testing.T, b *Bucket, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if _, err := b.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDirectoryAppearsWithTheFirstWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	b := openTest(t, dir)
	if keys := keysOf(t, b, ""); keys != nil {
		t.Errorf("keys of a missing directory: %q", keys)
	}
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat in a missing directory: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open or a read made a directory: %v", err)
	}
	put(t, b, "k")
	if body, err := os.ReadFile(filepath.Join(dir, "k")); err != nil || string(body) != "k" {
		t.Errorf("after Put: %q, %v", body, err)
	}
}

func TestOpenRefusesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Open(file, nil); err == nil {
		t.Errorf("Open of a plain file succeeded: %v", b.Dir())
	}
}

func TestWalkSortsBytewiseAcrossDirectories(t *testing.T) {
	b := openTest(t, t.TempDir())
	want := []string{"a-b", "a.c/z", "a/b", "a/c/d", "a0", "b/.x", "b/y", "é"}
	put(t, b, "é", "a0", "b/y", "a/c/d", "a-b", "a/b", "b/.x", "a.c/z")
	if got := keysOf(t, b, ""); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, prefix := range []string{"a", "a/", "a/c", "a/c/d", "a/c/d/", "b/.", "x", "../", "/"} {
		var filtered []string
		for _, key := range want {
			if strings.HasPrefix(key, prefix) {
				filtered = append(filtered, key)
			}
		}
		if got := keysOf(t, b, prefix); !slices.Equal(got, filtered) {
			t.Errorf("prefix %q: got %q, want %q", prefix, got, filtered)
		}
	}
}

func TestReadDir(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "r/a/b", "r/a-b", "r/c", "r/a/d/e", "s")
	for dir, want := range map[string]string{"": "r/ s", "r": "r/a-b r/a/ r/c", "r/a": "r/a/b r/a/d/", "none": "", "s": ""} {
		var got []string
		for e, err := range b.ReadDir(t.Context(), dir) {
			if err != nil {
				t.Fatal(err)
			}
			if e.IsDir {
				e.Key += "/"
			}
			got = append(got, e.Key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("ReadDir(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestCreate(t *testing.T) {
	b := openTest(t, t.TempDir())
	o, err := b.Create(t.Context(), "d/k", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if there, err := b.Stat(t.Context(), "d/k"); err != nil || there != o {
		t.Errorf("Stat = %v, %v, want what Create returned: %v", there, err, o)
	}
	if _, err := b.Create(t.Context(), "d/k", []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v", err)
	}
	if body, err := os.ReadFile(b.Path("d/k")); err != nil || string(body) != "one" {
		t.Errorf("body %q, %v", body, err)
	}
	wantNoTemps(t, b)
}

func wantNoTemps(t *testing.T, b *Bucket) {
	t.Helper()
	entries, err := os.ReadDir(b.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if keyname.IsTemp(e.Name()) {
			t.Errorf("temporary file left: %s", e.Name())
		}
	}
}

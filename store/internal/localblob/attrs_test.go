package localblob

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"gocloud.dev/blob"

	"github.com/heirloom-ml/heirloom/store/internal/attrs"
	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// bucketOf wraps b for the tests that are about gocloud's own view.
func bucketOf(t *testing.T, b *Bucket) *blob.Bucket {
	t.Helper()
	return blob.NewBucket(b)
}

func TestPlainWritesKeepNothingBesideTheBytes(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "native")
	if err := bucketOf(t, b).WriteAll(t.Context(), "portable", []byte("<html>"), nil); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"native", "portable"} {
		f, _, err := b.OpenFile(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := getXattr(f, attrs.Name); len(data) != 0 || err != nil {
			t.Errorf("%s has attributes %q, %v", key, data, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(b.Dir())
	if err != nil || len(entries) != 2 {
		t.Errorf("files %v, %v", entries, err)
	}
}

func TestAttributesThatCannotBeKeptAreAnError(t *testing.T) {
	b := openTest(t, t.TempDir())
	big := &blob.WriterOptions{Metadata: map[string]string{"k": strings.Repeat("x", 1<<17)}} // more than any attribute may hold
	if err := bucketOf(t, b).WriteAll(t.Context(), "k", []byte("x"), big); err == nil {
		t.Error("attributes were dropped in silence")
	}
	if _, err := os.Stat(b.Path("k")); err == nil {
		t.Error("the object is there without its attributes")
	}
	wantNoTemps(t, b)
}

func TestVersions(t *testing.T) {
	b := openTest(t, t.TempDir())
	seen := map[string]bool{}
	for range 20 {
		o, err := b.Put(t.Context(), "k", []byte("same"))
		if err != nil {
			t.Fatal(err)
		}
		if seen[o.Version] || o.Version == "" {
			t.Errorf("version %q is not new", o.Version)
		}
		seen[o.Version] = true
		there, err := b.Stat(t.Context(), "k")
		if err != nil || there.Version != o.Version {
			t.Errorf("Stat gives version %q, %v, Put gave %q", there.Version, err, o.Version)
		}
		for listed, err := range b.Walk(t.Context(), "k") {
			if err != nil || listed != there {
				t.Errorf("Walk gives %v, %v, Stat %v", listed, err, there)
			}
		}
	}
}

func TestKeysInTheWay(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "d/k")
	for _, mode := range []dirtree.Mode{dirtree.Replace, dirtree.Create} {
		if _, err := b.writeAll(t.Context(), "d", nil, mode); !errors.Is(err, syscall.EISDIR) {
			t.Errorf("writing a directory: %v", err)
		}
		for _, key := range []string{"d/k/x", "d/k/x/y"} {
			if _, err := b.writeAll(t.Context(), key, nil, mode); !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("writing %s below an object: %v", key, err)
			}
		}
	}
	for _, key := range []string{"d", "d/", "d/k/x", "none"} {
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Stat(%q): %v", key, err)
		}
		if _, _, err := b.OpenFile(t.Context(), key); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("OpenFile(%q): %v", key, err)
		}
		if err := b.Delete(t.Context(), key, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Delete(%q): %v", key, err)
		}
	}
	wantNoTemps(t, b)
}

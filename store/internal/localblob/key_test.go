package localblob

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/keyname"
)

func TestOrdinaryKeysAreTheirPaths(t *testing.T) {
	b := openTest(t, t.TempDir())
	for _, key := range []string{
		"heirloom.json", "runs/slurm%3A%2F%2Fs%2Fa-1/checkpoint.h5", "tracker/ONQXGYLMHIXS6===/metadata/1700000000000000000-0a1b",
		"x/é ☺/a b", "a:b?c*d\"e'f<g>h|i\\j", ".hidden", "..x", "x..", "~", "_SUCCESS", "part-00000.snappy.parquet", "a__b", "0x2f",
		"__0x", "a__0x2f", "a__0x41__b", "a__0xzz__", strings.Repeat("n", 255), strings.Repeat("d/", 100) + "k",
	} {
		if got, want := b.Path(key), filepath.Join(b.Dir(), key); got != want {
			t.Errorf("path of %q is %q", key, got)
		}
		put(t, b, key)
		if _, err := os.Stat(filepath.Join(b.Dir(), key)); err != nil {
			t.Errorf("after Put: %v", err)
		}
	}
}

func TestStrangeKeysStayInside(t *testing.T) {
	b := openTest(t, filepath.Join(t.TempDir(), "in"))
	keys := []string{
		"/", "/a", "a/", "c//b", "d///", "./a", "a/./b", "x/..", "../a", "a/../../b", "../../../../tmp/x", "a\x00b", "\n", "\x7f",
		"__0x2f__", "__0x__", "__0x5f____0x2f__", keyname.TempStart + "0123456789abcdef" + keyname.TempEnd, "d/" + keyname.TempStart + "x" + keyname.TempEnd,
	}
	put(t, b, keys...)
	slices.Sort(keys)
	if got := keysOf(t, b, ""); !slices.Equal(got, keys) {
		t.Errorf("listed %q\nwant   %q", got, keys)
	}
	for _, key := range keys {
		body, err := os.ReadFile(b.Path(key))
		if err != nil || string(body) != key {
			t.Errorf("key %q: %q, %v", key, body, err)
		}
		if rel, err := filepath.Rel(b.Dir(), b.Path(key)); err != nil || !filepath.IsLocal(rel) {
			t.Errorf("key %q lies at %q", key, b.Path(key))
		}
	}
	outside, err := os.ReadDir(filepath.Dir(b.Dir()))
	if err != nil || len(outside) != 1 {
		t.Errorf("beside the directory: %v, %v", outside, err)
	}
}

func TestForeignNamesAreKeys(t *testing.T) {
	b := openTest(t, t.TempDir())
	for _, name := range []string{"__0x41__", "x__0x5f__", "a b", "\xff"} {
		if err := os.WriteFile(filepath.Join(b.Dir(), name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range keysOf(t, b, "") {
		f, _, err := b.OpenFile(t.Context(), key)
		if err != nil {
			t.Errorf("a listed key cannot be read: %v", err)
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := len(keysOf(t, b, "")); got != 4 {
		t.Errorf("%d keys, want 4", got)
	}
}

func TestLongNamesAreAnError(t *testing.T) {
	b := openTest(t, t.TempDir())
	if _, err := b.Put(t.Context(), strings.Repeat("n", 256), nil); err == nil {
		t.Error("a name of 256 bytes was accepted")
	}
	if _, err := b.Put(t.Context(), "", nil); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("the empty key: %v", err)
	}
	wantNoTemps(t, b)
}

package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

// TestListDirsHolding finds the same on a disk, where it looks, as in memory, where
// it lists; also below a directory, and with a prefix.
func TestListDirsHolding(t *testing.T) {
	root := t.TempDir()
	for name, s := range map[string]*store.Store{
		"local": openStore(t, root), "mem": openStore(t, "mem://"), "sub": openStore(t, "mem://").Sub("some/where"), "local sub": openStore(t, root).Sub("sub"),
	} {
		for _, dir := range []store.Key{"", "runs"} {
			for _, key := range []store.Key{
				"r1/in/a", "r1-/in/ab", "r1.x/in/a/deep/er", "r2/in/b", "r3/x", "r3/links/a/=", "r4/links/b/a", "r5/inn/a", "r6/in/a", "r6/not/this/one", "r7/in/a", "r7/not/that", "top",
			} {
				if err := s.Put(t.Context(), slashedJoin(dir, key), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, dir := range []store.Key{"", "runs"} {
			var got []string
			for d, err := range s.ListDirsHolding(t.Context(), dir, store.Holding{Any: []store.Key{"in/a", "links/a"}, None: []store.Key{"not/this"}}) {
				if err != nil {
					t.Fatal(err)
				}
				if d.Key.Base() != "runs" && d.Key.Base() != "sub" {
					got = append(got, fmt.Sprint(d.Key.Base(), " ", d.Holds))
				}
			}
			want := []string{"r1- false", "r1.x true", "r1 true", "r2 false", "r3 true", "r4 false", "r5 false", "r6 false", "r7 true"}
			if !slices.Equal(got, want) {
				t.Errorf("%s, in %q: %v, want %v", name, dir, got, want)
			}
		}
	}
}

func slashedJoin(dir, key store.Key) store.Key {
	if dir == "" {
		return key
	}
	return dir.Join(string(key))
}

// TestListDirsHoldingOddities: an empty directory holds nothing, neither does one
// that a link leads to, and an error is told.
func TestListDirsHoldingOddities(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(root, "empty", "in", "a", "b"), filepath.Join(root, "linked"), filepath.Join(elsewhere, "a")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "a", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(root, "linked", "in")); err != nil {
		t.Skip(err)
	}
	s := openStore(t, root)
	n := 0
	for d, err := range s.ListDirsHolding(t.Context(), "", store.Holding{Any: []store.Key{"in/a"}}) {
		if err != nil || d.Holds {
			t.Errorf("%v, %v", d, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d directories, want 2", n)
	}
	for _, err := range s.ListDirsHolding(t.Context(), "..", store.Holding{Any: []store.Key{"in/a"}}) {
		if err == nil {
			t.Error("no error for a directory that is no key")
		}
	}
}

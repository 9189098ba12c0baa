//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func TestRestoreAll(t *testing.T) {
	s := openStore(t, "mem://", nil)
	keep := func(files map[string]string) store.Digest {
		dir := t.TempDir()
		for name, body := range files {
			write(t, filepath.Join(dir, name), body, 0o644)
		}
		tree, err := Scan(t.Context(), dir, nil)
		check(t, err)
		_, err = tree.Keep(t.Context(), s)
		check(t, err)
		return tree.Digest
	}
	one := keep(map[string]string{"a": "1", "libs/x/own": "1"})
	two := keep(map[string]string{"a": "2", "b": "2"})
	for _, c := range []struct {
		name string
		list []Placed
		want []string
		kind error
	}{
		{"beside", []Placed{{one, ""}, {two, "libs/x"}}, []string{"a=1", "libs/x/a=2", "libs/x/b=2", "libs/x/own=1"}, nil},
		{"over", []Placed{{one, ""}, {two, "."}}, []string{"a=2", "b=2", "libs/x/own=1"}, nil},
		{"below a file", []Placed{{one, ""}, {two, "a"}}, nil, store.ErrConflict},
		{"file over directory", []Placed{{two, "libs/x/own"}, {one, ""}}, nil, store.ErrConflict},
		{"out", []Placed{{one, "../x"}}, nil, store.ErrInvalid},
		{"absolute", []Placed{{one, "/x"}}, nil, store.ErrInvalid},
		{"nothing", nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			err := RestoreAll(t.Context(), s, c.list, dir)
			if !errors.Is(err, c.kind) {
				t.Fatalf("error %v, want %v", err, c.kind)
			}
			if got := contents(t, dir); !slices.Equal(got, c.want) {
				t.Errorf("restored %q, want %q", got, c.want)
			}
		})
	}
}

// contents lists the files below dir as "path=content".
func contents(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	tree, err := Scan(t.Context(), dir, nil)
	check(t, err)
	var list []string
	for _, e := range tree.Entries {
		if e.Kind == File {
			body, err := os.ReadFile(filepath.Join(dir, e.Path))
			check(t, err)
			list = append(list, e.Path+"="+string(body))
		}
	}
	return list
}

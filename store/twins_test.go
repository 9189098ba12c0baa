package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestTwins asks file systems that fold names in different ways.
func TestTwins(t *testing.T) {
	never := func(string) string { return "" }
	for _, c := range []struct {
		name  string
		fold  func(string) string // what two names share that are one
		names []string
		twins bool
	}{
		{"neither case nor composition", never, []string{"a/x", "A/x", "é", "e\u0301"}, false},
		{"case", strings.ToLower, []string{"a", "b", "A"}, true},
		{"case of a directory", strings.ToLower, []string{"dir/x", "DIR/x"}, true},
		{"case, other names", strings.ToLower, []string{"a", "b", "ab", "é", "e\u0301"}, false},
		{"composition", norm.NFC.String, []string{"é", "É", "e\u0301"}, true},
		{"composition, other names", norm.NFC.String, []string{"é", "É", "e", "E"}, false},
		{"both", func(s string) string { return strings.ToLower(norm.NFC.String(s)) }, []string{"É", "e\u0301"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var objects []Object
			for _, name := range c.names {
				objects = append(objects, Object{Key: Key(name)})
			}
			err := checkTwins(objects, func(o Object) string { return string(o.Key) }, func(a, b string) (bool, error) {
				return c.fold(a) != "" && c.fold(a) == c.fold(b), nil
			})
			if errors.Is(err, ErrConflict) != c.twins || !c.twins && err != nil {
				t.Errorf("%q: %v", c.names, err)
			}
		})
	}
}

// TestTwinsAreTriedOut compares what a file system is said to do with what it does, and wants nothing left.
func TestTwinsAreTriedOut(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, pair := range [][2]string{{"a/file", "a/FILE"}, {"é/x", "e\u0301/x"}} {
		first, second := firstDifference(strings.Split(pair[0], "/"), strings.Split(pair[1], "/"))
		probe := t.TempDir()
		if err := os.WriteFile(filepath.Join(probe, first), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, statErr := os.Stat(filepath.Join(probe, second))
		if same, err := foldsTogether(root, pair[0], pair[1]); err != nil || same != (statErr == nil) {
			t.Errorf("%q: %v, %v; stat says %v", pair, same, err, statErr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

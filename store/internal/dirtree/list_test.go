package dirtree

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob/driver"
)

// fakeTree reads directories of keys, backwards and each name twice. It notes what it reads and describes.
type fakeTree struct {
	keys      []string
	gone      string // has a name and is no object
	broken    string // cannot be described, or read
	dirs      []string
	described []string
}

var errBroken = errors.New("broken")

func (f *fakeTree) read(_ context.Context, dir string) (names []Name, err error) {
	f.dirs = append(f.dirs, dir)
	if dir != "" && dir == f.broken {
		return nil, errBroken
	}
	for _, key := range slices.Backward(f.keys) {
		rest, ok := strings.CutPrefix(key, dir)
		if !ok {
			continue
		}
		elem, _, isDir := strings.Cut(rest, "/")
		n := Name{Elem: elem, IsDir: isDir}
		if !isDir {
			n.Stat = func() (Object, bool, error) {
				f.described = append(f.described, key)
				if key == f.broken {
					return Object{}, false, errBroken
				}
				return Object{Size: int64(len(key))}, key != f.gone, nil
			}
		}
		names = append(names, n, n)
	}
	return names, nil
}

func collect[T any](list iter.Seq2[T, error], name func(T) string) (names []string, err error) {
	for item, err := range list {
		if err != nil {
			return names, err
		}
		names = append(names, name(item))
	}
	return names, nil
}

func keyOf(o Object) string { return o.Key }

func entryOf(e Entry) string {
	if e.IsDir {
		return e.Key + "/"
	}
	return e.Key
}

func testKeys() []string {
	return []string{"a-b", "a.c/x", "a.c/y", "a/1", "a/2/x", "a/2/y", "a/3", "a0", "b/c/d", "gone"}
}

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		prefix     string
		want, dirs []string
	}{
		{"", testKeys()[:9], []string{"", "a.c/", "a/", "a/2/", "b/", "b/c/"}},
		{"a/", []string{"a/1", "a/2/x", "a/2/y", "a/3"}, []string{"a/", "a/2/"}},
		{"a/2", []string{"a/2/x", "a/2/y"}, []string{"a/", "a/2/"}},
		{"a0", []string{"a0"}, []string{""}},
		{"none/x", nil, []string{"none/"}},
	} {
		f := &fakeTree{keys: testKeys(), gone: "gone"}
		got, err := collect(ReadFunc(f.read).Walk(t.Context(), c.prefix), keyOf)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("below %q: %q, %v, want %q", c.prefix, got, err, c.want)
		}
		if !slices.Equal(f.dirs, c.dirs) {
			t.Errorf("below %q: read %q, want %q", c.prefix, f.dirs, c.dirs)
		}
		for _, key := range f.described {
			if !strings.HasPrefix(key, c.prefix) {
				t.Errorf("below %q: %s was described", c.prefix, key)
			}
		}
	}
}

func TestReadDir(t *testing.T) {
	for dir, want := range map[string][]string{
		"":     {"a-b", "a.c/", "a/", "a0", "b/"},
		"a":    {"a/1", "a/2/", "a/3"},
		"none": nil,
	} {
		f := &fakeTree{keys: testKeys(), gone: "gone"}
		got, err := collect(ReadFunc(f.read).ReadDir(t.Context(), dir), entryOf)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("in %q: %q, %v, want %q", dir, got, err, want)
		}
		if want := []string{Below(dir)}; !slices.Equal(f.dirs, want) {
			t.Errorf("in %q: read %q", dir, f.dirs)
		}
	}
}

// TestListPaged wants a page to describe no more than it holds and the one object that tells of the next.
func TestListPaged(t *testing.T) {
	f := &fakeTree{keys: testKeys()}
	page, err := ReadFunc(f.read).ListPaged(t.Context(), &driver.ListOptions{PageSize: 2})
	if err != nil || len(page.Objects) != 2 || len(page.NextPageToken) == 0 || page.Objects[1].Size != int64(len("a.c/x")) {
		t.Errorf("%+v, %v", page, err)
	}
	if len(f.described) != 3 {
		t.Errorf("described %q", f.described)
	}
}

func TestAListingEndsWithItsError(t *testing.T) {
	for _, broken := range []string{"a/2/", "a/2/x"} {
		f := &fakeTree{keys: testKeys(), broken: broken}
		got, err := collect(ReadFunc(f.read).Walk(t.Context(), ""), keyOf)
		if want := []string{"a-b", "a.c/x", "a.c/y", "a/1"}; !errors.Is(err, errBroken) || !slices.Equal(got, want) {
			t.Errorf("%s broken: %q, %v, want %q and the error", broken, got, err, want)
		}
		if got, err := collect(ReadFunc(f.read).ReadDir(t.Context(), "a/2"), entryOf); !errors.Is(err, errBroken) || got != nil {
			t.Errorf("%s broken: %q, %v", broken, got, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fakeTree{keys: testKeys()}
	if got, err := collect(ReadFunc(f.read).Walk(ended, ""), keyOf); !errors.Is(err, context.Canceled) || got != nil || f.dirs != nil {
		t.Errorf("with an ended context: %q, %v, read %q", got, err, f.dirs)
	}
}

func TestAbove(t *testing.T) {
	for _, c := range []struct {
		dir, root string
		want      []string
	}{
		{"/r/a/b", "/r", []string{"/r/a/b", "/r/a"}},
		{"/a/b", "/", []string{"/a/b", "/a"}},
		{"/r", "/r", nil},
		{"/", "/", nil},
		{"/rest/a", "/r", nil},
	} {
		if got := slices.Collect(Above(c.dir, c.root)); !slices.Equal(got, c.want) {
			t.Errorf("%s to %s: %q, want %q", c.dir, c.root, got, c.want)
		}
	}
}

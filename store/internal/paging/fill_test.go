package paging

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob/driver"
)

// walkOf visits sorted keys as a tree holds them: one that the cursor does not want hides all below it.
func walkOf(keys []string) func(*Cursor) iter.Seq2[string, error] {
	return func(c *Cursor) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, key := range keys {
				if reaches(c, key) && !yield(key, nil) {
					return
				}
			}
		}
	}
}

func reaches(c *Cursor, key string) bool {
	for i := range key {
		if key[i] == '/' && !c.Wants(key[:i+1], true) {
			return false
		}
	}
	return c.Wants(key, false)
}

func listed(key string) *driver.ListObject { return &driver.ListObject{Key: key} }

// pagesOf lists in pages of size and checks that none is larger.
func pagesOf(t *testing.T, keys []string, opts driver.ListOptions) []string {
	t.Helper()
	var got []string
	for {
		page, err := Fill(&opts, walkOf(keys), listed)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Objects) > opts.PageSize {
			t.Errorf("a page of %d", len(page.Objects))
		}
		for _, o := range page.Objects {
			got = append(got, o.Key)
		}
		if len(page.NextPageToken) == 0 {
			return got
		}
		opts.PageToken = page.NextPageToken
	}
}

func TestPagesAddUpToTheWalk(t *testing.T) {
	keys := []string{"a-b", "a.c/x", "a.c/y", "a/1", "a/2/x", "a/2/y", "a/3", "a0", "b/c/d/e", "z"}
	for size := 1; size <= 11; size++ {
		for _, prefix := range []string{"", "a", "a/", "a/2", "b/c", "none"} {
			want := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, prefix) })
			if got := pagesOf(t, keys, driver.ListOptions{Prefix: prefix, PageSize: size}); !slices.Equal(got, want) {
				t.Errorf("pages of %d below %q: %q, want %q", size, prefix, got, want)
			}
		}
		want := []string{"a-b", "a.c/", "a/", "a0", "b/", "z"}
		if got := pagesOf(t, keys, driver.ListOptions{Delimiter: "/", PageSize: size}); !slices.Equal(got, want) {
			t.Errorf("pages of %d with delimiter: %q, want %q", size, got, want)
		}
		want = []string{"a/1", "a/2/", "a/3"}
		if got := pagesOf(t, keys, driver.ListOptions{Prefix: "a/", Delimiter: "/", PageSize: size}); !slices.Equal(got, want) {
			t.Errorf("pages of %d of a directory: %q, want %q", size, got, want)
		}
	}
}

func TestCursorLeavesDirectoriesOut(t *testing.T) {
	for _, c := range []struct {
		cursor Cursor
		dir    string
		want   bool
	}{
		{Cursor{}, "a/", true},
		{Cursor{Prefix: "a/b/c"}, "a/b/", true},
		{Cursor{Prefix: "a/b/c"}, "a/c/", false},
		{Cursor{After: "b/c"}, "a/", false},
		{Cursor{After: "b/c"}, "b/", true},
		{Cursor{Skip: "b/"}, "b/c/", false},
	} {
		if got := c.cursor.Wants(c.dir, true); got != c.want {
			t.Errorf("%+v wants %s: %v", c.cursor, c.dir, got)
		}
	}
}

func TestAWalkThatFailsGivesNoPage(t *testing.T) {
	broken := errors.New("broken")
	walk := func(*Cursor) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", broken) }
	}
	if page, err := Fill(&driver.ListOptions{}, walk, listed); page != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", page, err)
	}
}

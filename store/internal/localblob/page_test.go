package localblob

import (
	"slices"
	"testing"

	"gocloud.dev/blob/driver"
)

// pagesOf lists in pages of size and checks that none is larger.
func pagesOf(t *testing.T, b *Bucket, opts driver.ListOptions) []string {
	t.Helper()
	var keys []string
	for {
		page, err := b.ListPaged(t.Context(), &opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Objects) > opts.PageSize {
			t.Errorf("a page of %d", len(page.Objects))
		}
		for _, o := range page.Objects {
			keys = append(keys, o.Key)
		}
		if len(page.NextPageToken) == 0 {
			return keys
		}
		opts.PageToken = page.NextPageToken
	}
}

func TestPagesAddUpToTheWalk(t *testing.T) {
	b := openTest(t, t.TempDir())
	put(t, b, "a-b", "a.c/x", "a.c/y", "a/1", "a/2/x", "a/2/y", "a/3", "a0", "b/c/d/e", "z")
	for size := 1; size <= 11; size++ {
		for _, prefix := range []string{"", "a", "a/", "a/2", "b/c", "none"} {
			want := keysOf(t, b, prefix)
			if got := pagesOf(t, b, driver.ListOptions{Prefix: prefix, PageSize: size}); !slices.Equal(got, want) {
				t.Errorf("pages of %d below %q: %q, want %q", size, prefix, got, want)
			}
		}
		want := []string{"a-b", "a.c/", "a/", "a0", "b/", "z"}
		if got := pagesOf(t, b, driver.ListOptions{Delimiter: "/", PageSize: size}); !slices.Equal(got, want) {
			t.Errorf("pages of %d with delimiter: %q, want %q", size, got, want)
		}
		want = []string{"a/1", "a/2/", "a/3"}
		if got := pagesOf(t, b, driver.ListOptions{Prefix: "a/", Delimiter: "/", PageSize: size}); !slices.Equal(got, want) {
			t.Errorf("pages of %d of a directory: %q, want %q", size, got, want)
		}
	}
}

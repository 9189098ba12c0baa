package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestListAfter begins a listing at, before, between and behind keys, at the root and below a prefix.
func TestListAfter(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *store.Store{
		"local": func(t *testing.T) *store.Store { return openStore(t, t.TempDir()) },
		"mem":   func(t *testing.T) *store.Store { return openStore(t, "mem://") },
		"s3":    func(t *testing.T) *store.Store { return openStore(t, servers.MinIO(t).URL("after")) },
		"gcs":   func(t *testing.T) *store.Store { return openStore(t, servers.FakeGCS(t).URL("after")) },
	} {
		t.Run(name, func(t *testing.T) {
			whole := open(t)
			for _, s := range []*store.Store{whole, whole.Sub("sub")} {
				var keys []string
				for _, key := range []store.Key{"a-b/x", "a/1", "a/2", "a0", "b/c/d", "b/c/e", "b/d", "c", "d/e/f/g"} {
					if err := s.Put(t.Context(), key, nil); err != nil {
						t.Fatal(err)
					}
					keys = append(keys, string(key))
				}
				for _, prefix := range []string{"", "a", "b/"} {
					for _, after := range append(slices.Clone(keys), "", "0", "a", "a/", "a/10", "b/c", "b/c/", "b/c0", "z") {
						checkAfter(t, s, keys, prefix, after)
					}
				}
			}
		})
	}
}

func checkAfter(t *testing.T, s *store.Store, keys []string, prefix, after string) {
	t.Helper()
	if after != "" && (len(after) < len(prefix) || after[:len(prefix)] != prefix) {
		return
	}
	var got, want []string
	for o, err := range s.ListAfter(t.Context(), prefix, after) {
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Key) < 4 || o.Key[:4] != "sub/" {
			got = append(got, string(o.Key))
		}
	}
	for _, key := range keys {
		if key > after && key[:min(len(prefix), len(key))] == prefix {
			want = append(want, key)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q after %q: %v, want %v", prefix, after, got, want)
	}
}

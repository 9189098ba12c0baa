package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestMemory(t *testing.T) {
	for _, u := range []string{"mem://", t.TempDir()} {
		ctx := t.Context()
		root, err := Open(ctx, u, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{root, root.Sub("deep/er")} {
			if err := s.Create(ctx, "a/b", []byte("one")); err != nil {
				t.Fatal(err)
			}
			if err := s.Create(ctx, "a/b", []byte("two")); !errors.Is(err, ErrExist) {
				t.Fatalf("second create: %v", err)
			}
			if err := s.Put(ctx, "a/b", []byte("three")); err != nil {
				t.Fatal(err)
			}
			got, err := s.Get(ctx, "a/b")
			if err != nil || string(got) != "three" {
				t.Fatalf("get: %q, %v", got, err)
			}
			if _, err := s.Get(ctx, "a/c"); !errors.Is(err, ErrNotExist) {
				t.Fatalf("get of nothing: %v", err)
			}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					err := s.AddLines(ctx, "lines", func(context.Context) ([]string, error) {
						return []string{fmt.Sprint(i)}, nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			var all string
			for e, err := range s.ListDir(ctx, "") {
				all += fmt.Sprint(e.Key, e.IsDir, err, " ")
			}
			t.Log(all, s.URL(), s.KeyURL("k"), s.Stats())
			if err := s.Delete(ctx, "a/b"); err != nil {
				t.Fatal(err)
			}
			if err := s.Delete(ctx, "a/b"); !errors.Is(err, ErrNotExist) {
				t.Fatalf("second delete: %v", err)
			}
		}
		_, err = Open(ctx, "ftp://x", nil)
		t.Log(err)
	}
}

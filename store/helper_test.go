package store_test

import (
	"testing"

	"github.com/heirloom-ml/heirloom/store"
)

func openStore(t *testing.T, url string) *store.Store {
	t.Helper()
	return openWith(t, url, nil)
}

func openWith(t *testing.T, url string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func second[A any](_ A, err error) error { return err }

package store_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/heirloom-ml/heirloom/store"
)

// onRequest opens a store in memory whose nth request of an operation, from 1,
// goes through fault.
func onRequest(t *testing.T, op string, fault func(n int64, do func() error) error) *store.Store {
	t.Helper()
	var n atomic.Int64
	s, err := store.Open(t.Context(), "mem://", &store.Options{
		Intercept: func(_ context.Context, r store.Request, do func() error) error {
			if r.Op != op {
				return do()
			}
			return fault(n.Add(1), do)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int64 // of the first requests
		kind  error
		tries int64
		ok    bool
	}{
		{"unavailable twice", 2, store.ErrUnavailable, 3, true},
		{"unavailable for long", 1000, store.ErrUnavailable, 6, false},
		{"refused", 1000, store.ErrPermission, 1, false},
		{"no space", 1000, store.ErrNoSpace, 1, false},
		{"corrupt", 1000, store.ErrCorrupt, 1, false},
		{"no kind", 1000, errors.New("odd"), 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries int64
				s := onRequest(t, "put", func(n int64, do func() error) error {
					tries = n
					if n <= c.fails {
						return c.kind
					}
					return do()
				})
				err := s.Put(t.Context(), "o", []byte("x"))
				if (err == nil) != c.ok || !c.ok && !errors.Is(err, c.kind) {
					t.Errorf("error is %v", err)
				}
				if tries != c.tries {
					t.Errorf("%d tries, want %d", tries, c.tries)
				}
			})
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := onRequest(t, "put", func(int64, func() error) error {
			cancel()
			return store.ErrUnavailable
		})
		if err := s.Put(ctx, "o", nil); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("error is %v", err)
		}
		if n := s.Stats().Total(); n != 0 { // the fault came before the request
			t.Errorf("%d requests, want none", n)
		}
	})
}

// TestLostResponse applies a write and says that it failed.
func TestLostResponse(t *testing.T) {
	lose := func(n int64, do func() error) error {
		err := do()
		if n == 1 && err == nil {
			return store.ErrUnavailable
		}
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		s := onRequest(t, "create", lose)
		if err := s.Create(t.Context(), "o", []byte("mine")); err != nil {
			t.Errorf("create whose answer was lost: %v", err)
		}
		if err := s.Create(t.Context(), "o", []byte("mine")); !errors.Is(err, store.ErrExist) {
			t.Errorf("a second create: %v, want ErrExist", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := onRequest(t, "delete", lose)
		if err := errors.Join(s.Put(t.Context(), "o", nil), s.Delete(t.Context(), "o")); err != nil {
			t.Errorf("delete whose answer was lost: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := onRequest(t, "list", lose)
		if err := errors.Join(s.Put(t.Context(), "a", nil), s.Put(t.Context(), "b", nil)); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for o, err := range s.List(t.Context(), "") {
			if err != nil {
				t.Error(err)
			}
			keys = append(keys, string(o.Key))
		}
		if got := strings.Join(keys, " "); got != "a b" {
			t.Errorf("a list whose page was lost yields %q", got)
		}
	})
}

// TestLostRace has another create the object before the retry.
func TestLostRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *store.Store
		s = onRequest(t, "create", func(n int64, do func() error) error {
			if n == 1 {
				if err := s.Put(t.Context(), "o", []byte("mine")); err != nil {
					t.Error(err)
				}
				return store.ErrUnavailable
			}
			return do()
		})
		if err := s.Create(t.Context(), "o", []byte("mine")); !errors.Is(err, store.ErrExist) {
			t.Errorf("create after another's of the same bytes: %v, want ErrExist", err)
		}
	})
}

func TestInterceptSeesEachRequest(t *testing.T) {
	var seen []store.Request
	s, err := store.Open(t.Context(), "mem://", &store.Options{
		Intercept: func(_ context.Context, r store.Request, do func() error) error {
			seen = append(seen, r)
			return do()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	sub := s.Sub("p")
	_, err = sub.PutFrom(t.Context(), "o", strings.NewReader("12345"), 5)
	body, getErr := sub.Get(t.Context(), "o")
	if err != nil || getErr != nil || string(body) != "12345" {
		t.Fatalf("%q, %v, %v", body, err, getErr)
	}
	want := []store.Request{{Op: "put", Key: "o", Bytes: 5}, {Op: "get", Key: "o"}}
	if len(seen) != 2 || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("seen were %v, want %v", seen, want)
	}
	stats := s.Stats()
	if stats.Up != 5 || stats.Down != 5 || stats.Total() != 2 {
		t.Errorf("the parent counts %+v, want 5 bytes each way in 2 requests", stats)
	}
	if _, err := sub.Open(t.Context(), "none"); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("open of nothing: %v", err)
	}
}

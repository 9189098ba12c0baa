package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/heirloom-ml/heirloom/store"
)

// held is a store in memory whose first put waits for release.
func held(t *testing.T) (s *store.Store, release func()) {
	t.Helper()
	gate := make(chan struct{})
	var first sync.Once
	s = onRequest(t, "put", func(_ int64, do func() error) error {
		first.Do(func() { <-gate })
		return do()
	})
	return s, func() { close(gate) }
}

// TestLinesTogether has 20 writers arrive while one is at it.
func TestLinesTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := held(t)
		var wg sync.WaitGroup
		for i := range 21 {
			wg.Go(func() {
				if err := s.Sub("dir").AddLines(t.Context(), "o", []string{fmt.Sprint(i)}, nil); err != nil {
					t.Errorf("add line %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		release()
		wg.Wait()
		body, err := s.Get(t.Context(), "dir/o")
		if n := strings.Count(string(body), "\n"); err != nil || n != 21 {
			t.Errorf("%d lines are there, %v, want 21", n, err)
		}
		if n := s.Stats().Requests["put"]; n != 2 {
			t.Errorf("21 writers made %d puts, want 2", n)
		}
	})
}

// TestLinesEachFailAlone has one whose line is none and one who gives up among
// others.
func TestLinesEachFailAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := held(t)
		canceled, cancel := context.WithCancel(t.Context())
		results := map[string]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		add := func(name string, ctx context.Context, line string) {
			wg.Go(func() {
				err := s.AddLines(ctx, "o", []string{line}, nil)
				mu.Lock()
				defer mu.Unlock()
				results[name] = err
			})
			synctest.Wait() // so that they come in this order
		}
		add("first", t.Context(), "first")
		add("canceled", canceled, "canceled")
		add("broken", t.Context(), "bro\nken")
		add("second", t.Context(), "second")
		cancel()
		synctest.Wait()
		release()
		wg.Wait()
		for name, want := range map[string]error{"first": nil, "second": nil, "broken": store.ErrInvalid, "canceled": context.Canceled} {
			if !errors.Is(results[name], want) {
				t.Errorf("%s: error is %v, want %v", name, results[name], want)
			}
		}
		if body, err := s.Get(t.Context(), "o"); err != nil || string(body) != "first\nsecond\n" {
			t.Errorf("the object is %q, %v", body, err)
		}
	})
}

// TestLinesLeadPasses has the one who acts for all give up on the way.
func TestLinesLeadPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := onRequest(t, "put", func(n int64, do func() error) error {
			if n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return do()
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.AddLines(ctx, "o", []string{"first"}, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up: %v, want context.Canceled", err)
			}
		})
		synctest.Wait()
		for i := range 3 {
			wg.Go(func() {
				if err := s.AddLines(t.Context(), "o", []string{fmt.Sprint(i)}, nil); err != nil {
					t.Errorf("who waited: %v", err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		body, err := s.Get(t.Context(), "o")
		if n := strings.Count(string(body), "\n"); err != nil || n != 3 {
			t.Errorf("%d lines are there, %v, want 3", n, err)
		}
	})
}

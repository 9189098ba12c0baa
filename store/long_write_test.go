package store_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/heirloom-ml/heirloom/store"
)

// TestLongWriteFaults sends a stream of three parts to a store that fails on cue.
func TestLongWriteFaults(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 20<<20/16)
	for _, c := range []struct {
		name, op string
		nth      int  // request of that kind, from 1
		lost     bool // applied, although it fails
		want     error
		err      error
	}{
		{name: "a part is refused", op: "part", nth: 2, err: store.ErrPermission, want: store.ErrPermission},
		{name: "a part is lost on its way", op: "part", nth: 2, err: store.ErrUnavailable},
		{name: "the answer to a part is lost", op: "part", nth: 3, err: store.ErrUnavailable, lost: true},
		{name: "the last step is refused", op: "complete", nth: 1, err: store.ErrPermission, want: store.ErrPermission},
		{name: "the last step is lost on its way", op: "complete", nth: 1, err: store.ErrUnavailable},
		{name: "the answer to the last step is lost", op: "complete", nth: 1, err: store.ErrUnavailable, lost: true},
		{name: "the beginning is refused", op: "begin", nth: 1, err: store.ErrNoSpace, want: store.ErrNoSpace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, seen := onNth(t, c.op, c.nth, func(do func() error) error {
					if c.lost {
						do()
					}
					return c.err
				})
				_, err := s.PutFrom(t.Context(), "o", strings.NewReader(body), -1)
				got, getErr := s.Get(t.Context(), "o")
				if !errors.Is(err, c.want) || c.want == nil && string(got) != body {
					t.Errorf("%d bytes arrived, error is %v, want %v", len(got), err, c.want)
				}
				if c.want != nil && !errors.Is(getErr, store.ErrNotExist) {
					t.Errorf("after it failed get says %v", getErr)
				}
				if aborted := seen("abort") > 0; aborted != (c.want != nil && c.op != "begin") {
					t.Errorf("aborted is %v", aborted)
				}
			})
		})
	}
}

// TestLongWriteIsCanceled ends the context while the source is read.
func TestLongWriteIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, seen := onNth(t, "", 0, nil)
	source := io.MultiReader(strings.NewReader(strings.Repeat("x", 17<<20)), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	}))
	if _, err := s.PutFrom(ctx, "o", source, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want the context's", err)
	}
	if _, err := s.Stat(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) || seen("abort") != 1 {
		t.Errorf("stat says %v after %d aborts", err, seen("abort"))
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// onNth opens a store in memory whose nth request of an operation goes through
// fault. seen counts the requests of one kind.
func onNth(t *testing.T, op string, nth int, fault func(do func() error) error) (s *store.Store, seen func(op string) int) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	s = openWith(t, "mem://", &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		mu.Lock()
		counts[r.Op]++
		n := counts[r.Op]
		mu.Unlock()
		if r.Op == op && n == nth {
			return fault(do)
		}
		return do()
	}})
	return s, func(op string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[op]
	}
}

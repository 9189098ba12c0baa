package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
	"github.com/heirloom-ml/heirloom/store/storetest/mutant"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// rejects runs the table until a case complains, or the case called by alone, which must.
// Without a defect none may.
func rejects(t *testing.T, sound bool, by string, open func() *store.Store) {
	t.Helper()
	for _, c := range storetest.Cases() {
		if by != "" && c.Name != by {
			continue
		}
		switch r := c.Check(t.Context(), open()); {
		case r.Message == "":
		case sound:
			t.Errorf("%s: %s", r.Case, r.Message)
		default:
			t.Logf("noticed by %q: %.150s", r.Case, strings.ReplaceAll(r.Message, "\n", "; "))
			return
		}
	}
	if !sound {
		t.Errorf("no case of %q noticed the defect", by)
	}
}

// TestMutants seeds one defect each into a sound bucket. The table of cases must
// notice every one of them, and none without.
func TestMutants(t *testing.T) {
	for _, m := range append(mutant.All(), mutant.Sound()) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			rejects(t, m.Name == "sound", "", func() *store.Store {
				s := m.Open(&store.Options{MaxAttempts: 2})
				t.Cleanup(func() { s.Close() })
				return s
			})
		})
	}
}

// TestS3Mutants puts a proxy with one defect each before an S3 server, which
// TestConformance finds sound.
func TestS3Mutants(t *testing.T) {
	server := servers.VersityGW(t)
	for _, m := range mutant.S3() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			proxy := httptest.NewServer(m.Before(server.Endpoint, server.AccessKey, server.SecretKey))
			t.Cleanup(proxy.Close)
			through := server
			through.Endpoint = proxy.URL
			bucket := server.WithBucket(t, bucketName(m.Name)).Bucket
			through.Bucket = bucket
			var n atomic.Int64
			rejects(t, false, m.Case, func() *store.Store {
				return open(t, through.URL(fmt.Sprint(n.Add(1))), "", nil)
			})
		})
	}
}

// bucketName makes a name that S3 takes of any text.
func bucketName(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	return "m-" + name[:min(len(name), 50)] + "-z"
}

// TestRequestMutants spoils requests between a sound store and its backend.
func TestRequestMutants(t *testing.T) {
	every := func(n int64, op string, err func(do func() error) error) func(context.Context, store.Request, func() error) error {
		var count atomic.Int64
		return func(_ context.Context, r store.Request, do func() error) error {
			if r.Op == op && count.Add(1)%n == 0 {
				return err(do)
			}
			return do()
		}
	}
	lost := func(func() error) error { return nil }
	for _, m := range []struct {
		name      string
		url       string // "" is a directory
		intercept func(context.Context, store.Request, func() error) error
	}{
		{"a put that was lost counts as done", "mem://", every(7, "put", lost)},
		{"a create that was lost counts as done", "mem://", every(3, "create", lost)},
		{"a delete that was lost counts as done", "mem://", every(2, "delete", lost)},
		{"an append that was lost counts as done", "", every(5, "append", lost)},
		{"a create that was done counts as refused", "mem://", every(2, "create", func(do func() error) error {
			return errors.Join(do(), &store.Error{Kind: store.ErrExist})
		})},
		{"a read that is refused counts as absence", "mem://", every(9, "get", func(func() error) error { return &store.Error{Kind: store.ErrNotExist} })},
		{"a write is not on disk when it returns", "", notSynced},
	} {
		t.Run(m.name, func(t *testing.T) {
			rejects(t, false, "", func() *store.Store {
				url := m.url
				if url == "" {
					url = t.TempDir()
				}
				var s *store.Store
				s, err := store.Open(t.Context(), url, &store.Options{Intercept: func(ctx context.Context, r store.Request, do func() error) error {
					return m.intercept(context.WithValue(ctx, storeKey{}, s), r, do)
				}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			})
		})
	}
}

type storeKey struct{}

// notSynced leaves the file of a put as a missing fsync does: its first page waits to be written.
func notSynced(ctx context.Context, r store.Request, do func() error) error {
	err := do()
	s := ctx.Value(storeKey{}).(*store.Store)
	if path, ok := s.LocalPath(store.Key(r.Key)); ok && r.Op == "put" && err == nil {
		redirty(path)
	}
	return err
}

// redirty writes the first byte of a file as it is.
func redirty(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	first := make([]byte, 1)
	if n, _ := f.ReadAt(first, 0); n == 1 {
		f.WriteAt(first, 0)
	}
}

package store_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestS3Environment reaches the server by AWS_ variables alone.
func TestS3Environment(t *testing.T) {
	server := servers.VersityGW(t)
	s := openStore(t, "s3://"+server.Bucket+"/p")
	if err := s.Put(t.Context(), "o", []byte("x")); err != nil {
		t.Fatal(err)
	}
	byURL := openStore(t, server.URL("p"))
	if got, err := byURL.Get(t.Context(), "o"); err != nil || string(got) != "x" {
		t.Errorf("through the URL: %q, %v", got, err)
	}
	for _, setting := range s.FsspecConfig() {
		if setting.Key == "client_kwargs.endpoint_url" && setting.Value == server.Endpoint {
			return
		}
	}
	t.Errorf("fsspec is not told of %s: %v", server.Endpoint, s.FsspecConfig())
}

func TestMissingBucket(t *testing.T) {
	s3, gcs := servers.MinIO(t), servers.FakeGCS(t)
	s3.Bucket, gcs.Bucket = "missing", "missing"
	for _, url := range []string{s3.URL("p"), gcs.URL("p")} {
		s := openStore(t, url)
		for verb, err := range map[string]error{
			"put": s.Put(t.Context(), "o", nil), "create": s.Create(t.Context(), "o", nil), "list": firstError(s, t.Context()),
		} {
			if !errors.Is(err, store.ErrNotExist) || !strings.Contains(err.Error(), "has no bucket missing") {
				t.Errorf("%s %s: error is %v, want ErrNotExist that names the bucket", s.Scheme(), verb, err)
			}
		}
		if _, err := s.Get(t.Context(), "o"); !errors.Is(err, store.ErrNotExist) {
			t.Errorf("%s get: error is %v, want ErrNotExist", s.Scheme(), err)
		}
	}
}

func firstError(s *store.Store, ctx context.Context) error {
	for _, err := range s.List(ctx, "") {
		return err
	}
	return nil
}

func TestWrongKeys(t *testing.T) {
	for name, start := range map[string]func(testing.TB) servers.S3{"minio": servers.MinIO, "versitygw": servers.VersityGW} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			s := openStore(t, server.URL(""))
			if err := s.Put(t.Context(), "o", nil); err != nil {
				t.Fatal(err)
			}
			t.Setenv("AWS_SECRET_ACCESS_KEY", "a-wrong-secret")
			s = openStore(t, server.URL(""))
			for verb, err := range map[string]error{
				"get": second(s.Get(t.Context(), "o")), "stat": second(s.Stat(t.Context(), "o")), "list": firstError(s, t.Context()),
				"put": s.Put(t.Context(), "o", nil), "create": s.Create(t.Context(), "p", nil), "delete": s.Delete(t.Context(), "o"),
			} {
				if !errors.Is(err, store.ErrPermission) || errors.Is(err, store.ErrNotExist) {
					t.Errorf("%s: error is %v, want ErrPermission", verb, err)
				}
				if err != nil && strings.Contains(err.Error(), "a-wrong-secret") {
					t.Errorf("%s: the error shows the secret: %v", verb, err)
				}
			}
		})
	}
}

func TestNoCredentials(t *testing.T) {
	server := servers.VersityGW(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	err := openStore(t, server.URL("")).Put(t.Context(), "o", nil)
	if !errors.Is(err, store.ErrPermission) || !strings.Contains(err.Error(), "no AWS credentials") {
		t.Errorf("error is %v, want ErrPermission", err)
	}
}

// TestUnreachable wants an error that names the endpoint, within the time of its retries.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil { // so that nobody listens there
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	for _, url := range []string{"s3://b?endpoint=http://" + address, "gs://b"} {
		s := openStore(t, url)
		start := time.Now()
		for verb, err := range map[string]error{"get": second(s.Get(t.Context(), "o")), "create": s.Create(t.Context(), "o", nil), "list": firstError(s, t.Context())} {
			if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "http://"+address+" is unavailable") {
				t.Errorf("%s %s: error is %v, want ErrUnavailable that names the endpoint", s.Scheme(), verb, err)
			}
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("three requests in vain took %v", took)
		}
	}
}

// TestLostResponseRemote applies a write on a real server and says it failed.
func TestLostResponseRemote(t *testing.T) {
	s3, versity, gcs := servers.MinIO(t), servers.VersityGW(t), servers.FakeGCS(t)
	t.Setenv("AWS_ENDPOINT_URL", "")
	for name, url := range map[string]string{"minio": s3.URL(""), "versitygw": versity.URL(""), "gcs": gcs.URL("")} {
		t.Run(name, func(t *testing.T) {
			var lose atomic.Bool
			s := openWith(t, url, &store.Options{Intercept: func(_ context.Context, _ store.Request, do func() error) error {
				err := do()
				if err == nil && lose.CompareAndSwap(true, false) {
					return store.ErrUnavailable
				}
				return err
			}})
			lose.Store(true)
			if err := s.Create(t.Context(), "o", []byte("mine")); err != nil {
				t.Errorf("create whose answer was lost: %v", err)
			}
			if err := s.Create(t.Context(), "o", []byte("mine")); !errors.Is(err, store.ErrExist) {
				t.Errorf("create again: %v, want ErrExist", err)
			}
			o, err := s.Stat(t.Context(), "o")
			if err != nil {
				t.Fatal(err)
			}
			lose.Store(true)
			if err := s.Replace(t.Context(), "o", []byte("mine too"), o.Version); err != nil {
				t.Errorf("replace whose answer was lost: %v", err)
			}
			if err := s.Replace(t.Context(), "o", []byte("mine too"), o.Version); !errors.Is(err, store.ErrConflict) {
				t.Errorf("replace of an old version: %v, want ErrConflict", err)
			}
			want := map[string]int64{"create": 3, "put": 3, "stat": 3}
			for op, n := range want {
				if got := s.Stats().Requests[op]; got != n {
					t.Errorf("%d %s requests, want %d", got, op, n)
				}
			}
		})
	}
}

package dbfsblob

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// testBlock makes objects of many blocks small.
const testBlock = 4 << 10

func open(t *testing.T, server *servers.Databricks, root string) *Bucket {
	t.Helper()
	return openAs(t, root, Config{Host: server.Host, Token: server.Token, Source: "the test"})
}

func openAs(t *testing.T, root string, c Config) *Bucket {
	t.Helper()
	b, err := Open(root, c)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := b.api.(*dbfs); ok {
		d.block = testBlock
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// eachAPI runs a test on a bucket of each API.
func eachAPI(t *testing.T, test func(t *testing.T, server *servers.Databricks, b *Bucket)) {
	for name, root := range roots {
		t.Run(name, func(t *testing.T) {
			server := servers.DBFS(t)
			test(t, server, open(t, server, root))
		})
	}
}

// read gives the whole of an object.
func (b *Bucket) read(ctx context.Context, key string) (string, error) {
	r, err := b.Open(ctx, key, 0, -1, "")
	if err != nil {
		return "", err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	return string(body), err
}

func wantBody(t *testing.T, b *Bucket, key, want string) {
	t.Helper()
	got, err := b.read(t.Context(), key)
	if err != nil || got != want {
		t.Errorf("%s has %d bytes, %v, want %d", key, len(got), err, len(want))
	}
}

// wantFiles complains unless the server holds the files of these keys and no other, temporary ones included.
func wantFiles(t *testing.T, server *servers.Databricks, b *Bucket, keys ...string) {
	t.Helper()
	var want []string
	for _, key := range keys {
		want = append(want, b.Path(key))
	}
	if got := server.Files(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the workspace holds %q, want %q", got, want)
	}
}

// nth gives the fault to the n-th request, counted from 1, for which match is true.
func nth(n int64, match func(r *http.Request) bool, f servers.Fault) func(*http.Request) *servers.Fault {
	var seen atomic.Int64
	return func(r *http.Request) *servers.Fault {
		if match(r) && seen.Add(1) == n {
			return &f
		}
		return nil
	}
}

func rounds(full int) int {
	if os.Getenv("HEIRLOOM_STRESS") == "1" {
		return full
	}
	return max(1, full/20)
}

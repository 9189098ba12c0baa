package dbfsblob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
	"github.com/heirloom-ml/heirloom/store/internal/keyname"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func anyRequest(*http.Request) bool { return true }

// TestEachRequestFails breaks the connection at each request of a write in turn, before or after it is applied, or has the
// workspace refuse. What the key holds then is whole, the old or the new; nothing else is left but a temporary file that is
// swept, and doing the write again gives the new.
func TestEachRequestFails(t *testing.T) {
	long := bytes.Repeat([]byte("n"), testBlock+1)
	for _, write := range []struct {
		name string
		body []byte
		do   func(t *testing.T, b *Bucket, body []byte) error
	}{
		{"put", []byte("new"), func(t *testing.T, b *Bucket, body []byte) error { return b.Put(t.Context(), "d/k", body) }},
		{"create", []byte("new"), func(t *testing.T, b *Bucket, body []byte) error { return b.Create(t.Context(), "d/e/k", body) }},
		{"put of many blocks", long, func(t *testing.T, b *Bucket, body []byte) error { return b.Put(t.Context(), "d/k", body) }},
		{"stream", long, func(t *testing.T, b *Bucket, body []byte) error {
			_, err := b.PutStream(t.Context(), "d/k", bytes.NewReader(body), dirtree.Replace)
			return err
		}},
	} {
		for name, fault := range map[string]servers.Fault{
			"broken": {}, "lost": {Applied: true}, "503": {Status: 503, Code: "TEMPORARILY_UNAVAILABLE"}, "429": {Status: 429, RetryAfter: "0"},
		} {
			t.Run(write.name+", "+name, func(t *testing.T) {
				eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
					for n := int64(1); tryFault(t, server, b, n, fault, write.body, write.do); n++ {
					}
				})
			})
		}
	}
}

// tryFault has the n-th request of a write fail; false if there was none.
func tryFault(t *testing.T, server *servers.Databricks, b *Bucket, n int64, fault servers.Fault, body []byte, do func(*testing.T, *Bucket, []byte) error) bool {
	t.Helper()
	if err := b.Put(t.Context(), "d/k", []byte("old")); err != nil {
		t.Fatal(err)
	}
	var met atomic.Bool
	inject := nth(n, anyRequest, fault)
	server.Inject(func(r *http.Request) *servers.Fault {
		f := inject(r)
		if f != nil {
			met.Store(true)
		}
		return f
	})
	err := do(t, b, body)
	server.Inject(nil)
	if err != nil && !errors.Is(err, dirtree.ErrUnavailable) {
		t.Errorf("request %d: %v, want ErrUnavailable or none", n, err)
	}
	for _, key := range []string{"d/k", "d/e/k"} {
		got, readErr := b.read(t.Context(), key)
		switch {
		case errors.Is(readErr, fs.ErrNotExist) && (key == "d/e/k" || err != nil && len(body) > testBlock):
		case readErr != nil || got != "old" && got != string(body):
			t.Errorf("request %d: %s has %d bytes, %v", n, key, len(got), readErr)
		}
	}
	if err := do(t, b, body); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Errorf("request %d: doing it again: %v", n, err)
	}
	clear(t, server, b, n)
	return met.Load()
}

// clear wants nothing but objects and temporary files, and removes all.
func clear(t *testing.T, server *servers.Databricks, b *Bucket, n int64) {
	t.Helper()
	if _, err := b.Sweep(t.Context(), 0); err != nil {
		t.Error(err)
	}
	for _, file := range server.Files() {
		key := strings.TrimPrefix(file, b.Dir()+"/")
		if key != "d/k" && key != "d/e/k" {
			t.Errorf("request %d: %s is left behind", n, file)
		}
		if err := b.Remove(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}

// TestLostMove loses the answer of the move that publishes, of DBFS alone: it is found out that it was applied.
func TestLostMove(t *testing.T) {
	server := servers.DBFS(t)
	b := open(t, server, "/dir")
	isMove := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/move") }
	for n, c := range []struct {
		fault servers.Fault
		body  string
	}{{servers.Fault{Applied: true}, "applied"}, {servers.Fault{}, "not applied"}, {servers.Fault{Status: 500, Applied: true}, "applied, 500"}} {
		key := fmt.Sprint("k", n)
		if err := b.Put(t.Context(), "made", nil); err != nil { // the directory, so that the first move counts
			t.Fatal(err)
		}
		server.Inject(nth(1, isMove, c.fault))
		if err := b.Create(t.Context(), key, []byte(c.body)); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if err := b.Create(t.Context(), key, []byte(c.body)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s, again: %v, want ErrExist", c.body, err)
		}
		wantBody(t, b, key, c.body)
	}
	wantFiles(t, server, b, "k0", "k1", "k2", "made")
}

// TestFailedStreams leaves neither an object nor a temporary file where the source fails.
func TestFailedStreams(t *testing.T) {
	eachAPI(t, func(t *testing.T, server *servers.Databricks, b *Bucket) {
		if err := b.Put(t.Context(), "old", []byte("old")); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("the source broke")
		for _, size := range []int{0, 1, testBlock, 2*testBlock + 1} {
			for _, key := range []string{"old", "new"} {
				source := io.MultiReader(strings.NewReader(strings.Repeat("x", size)), failing{broken})
				if _, err := b.PutStream(t.Context(), key, source, dirtree.Replace); !errors.Is(err, broken) {
					t.Errorf("%d bytes: %v, want that of the source", size, err)
				}
			}
		}
		wantBody(t, b, "old", "old")
		wantFiles(t, server, b, "old")
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestIdleHandle has a source that pauses for longer than the workspace keeps a handle.
func TestIdleHandle(t *testing.T) {
	server := servers.DBFS(t)
	b := open(t, server, "/dir")
	block := strings.Repeat("x", testBlock)
	source := io.MultiReader(strings.NewReader(block), pausing{server.Idle}, strings.NewReader(block))
	if _, err := b.PutStream(t.Context(), "k", source, dirtree.Replace); err == nil {
		t.Error("a stream whose handle ended is stored")
	}
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of it is there: %v", err)
	}
	wantFiles(t, server, b)
}

// pausing is an empty source that calls pause when it is reached.
type pausing struct{ pause func() }

func (p pausing) Read([]byte) (int, error) {
	p.pause()
	return 0, io.EOF
}

// TestSweep removes what is old, and nothing that is an object.
func TestSweep(t *testing.T) {
	server := servers.DBFS(t)
	b := open(t, server, "/dir")
	isMove := func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/move") || strings.HasSuffix(r.URL.Path, "/delete")
	}
	server.Inject(func(r *http.Request) *servers.Fault {
		if isMove(r) {
			return &servers.Fault{Status: 500}
		}
		return nil
	})
	if err := b.Create(t.Context(), "k", []byte("x")); !errors.Is(err, dirtree.ErrUnavailable) {
		t.Fatalf("create: %v, want ErrUnavailable", err)
	}
	server.Inject(nil)
	if err := b.Put(t.Context(), keyname.TempStart+"not ours"+keyname.TempEnd, []byte("an object")); err != nil {
		t.Fatal(err)
	}
	if n := len(server.Files()); n != 2 {
		t.Fatalf("%d files, want the temporary one and the object: %q", n, server.Files())
	}
	for _, c := range []struct {
		age  time.Duration
		want int
	}{{time.Hour, 0}, {-time.Second, 1}} {
		if n, err := b.Sweep(t.Context(), c.age); n != c.want || err != nil {
			t.Errorf("sweep of what is %v old: %d, %v, want %d", c.age, n, err, c.want)
		}
	}
	wantBody(t, b, keyname.TempStart+"not ours"+keyname.TempEnd, "an object")
	if n := len(server.Files()); n != 1 {
		t.Errorf("left %q", server.Files())
	}
}

package tracker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// TestLostAnswers loses the first answer to each write: it is sent again, the
// same bytes under the same name, and what is kept in the end is what would be
// kept without the loss.
func TestLostAnswers(t *testing.T) {
	undisturbed := openStore(t, "mem://", nil)
	check(t, writeAllKinds(t.Context(), undisturbed))
	want := objects(t, undisturbed)
	t.Run("s3", func(t *testing.T) {
		server := servers.MinIO(t)
		f := startForgetful(t, server.Endpoint, false)
		server.Endpoint = f.url
		f.check(t, server.URL("lost"), want)
	})
	t.Run("gcs", func(t *testing.T) {
		server := servers.FakeGCS(t)
		f := startForgetful(t, server.Endpoint, true)
		t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(f.url, "http://"))
		f.check(t, server.URL("lost"), want)
	})
}

// writeAllKinds makes each kind of write, named and timed the same each time.
func writeAllKinds(ctx context.Context, s *store.Store) error {
	tr := tracker.NewFileTracker(s, &tracker.Options{Now: newWall().Now, Rand: &counter{}})
	n, err := 0, tr.Init(ctx, tracker.InitOptions{})
	for _, write := range []func() error{
		func() error { n, err = tr.StartAttempt(ctx, runA, tracker.AttemptStart{Host: "h"}); return err },
		func() error { return tr.Beat(ctx, runA, n) },
		func() error { return tr.AddMetadata(ctx, runA, object("a", 1)) },
		func() error {
			return tr.AddBatch(ctx, runA, tracker.Batch{Metadata: object("b", 1), Series: tracker.Series{"loss": {{Step: 1, Value: 0.5}}}})
		},
		func() error { return tr.AddArtifact(ctx, runA, tracker.Artifact{Name: "m", Path: "/m"}) },
		func() error { return tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "m"}) },
		func() error { return tr.AddSource(ctx, runB, tracker.Source{ID: runA, Artifact: "n"}) },
		func() error { return tr.EndAttempt(ctx, runA, n, tracker.AttemptEnd{State: tracker.Succeeded}) },
	} {
		err = errors.Join(err, write())
	}
	return err
}

// forgetful hands requests on to a server and loses its first answer to each
// write.
type forgetful struct {
	pass *httputil.ReverseProxy
	url  string

	mu     sync.Mutex     // guards writes
	writes map[string]int // how often each was asked for, by all that it says
}

// startForgetful names the server in what it hands on, or leaves that, since
// S3's signatures hold it.
func startForgetful(t *testing.T, target string, rename bool) *forgetful {
	t.Helper()
	to, err := url.Parse(target)
	check(t, err)
	f := &forgetful{writes: map[string]int{}, pass: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if !rename {
			r.Out.Host = r.In.Host
		}
	}}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method != http.MethodGet && r.Method != http.MethodHead && f.note(r, body) == 1 {
		f.pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	f.pass.ServeHTTP(w, r)
}

// note counts a write. What separates the parts of a body is another each time.
func (f *forgetful) note(r *http.Request, body []byte) int {
	text := string(body)
	if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && params["boundary"] != "" {
		text = strings.ReplaceAll(text, params["boundary"], "")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	all := r.Method + " " + r.URL.String() + "\n" + text
	f.writes[all]++
	return f.writes[all]
}

// check writes through the proxy to the store at url.
func (f *forgetful) check(t *testing.T, url string, want map[string]string) {
	t.Helper()
	s := openStore(t, url, &store.Options{RetryDelay: time.Millisecond})
	check(t, writeAllKinds(t.Context(), s))
	sameMap(t, "kept", objects(t, s), want)
	if len(f.writes) < len(want) {
		t.Errorf("%d writes met a fault, want %d at least", len(f.writes), len(want))
	}
	for write := range maps.Keys(f.writes) {
		if f.writes[write] != 2 {
			t.Errorf("asked for %d times, want 2:\n%s", f.writes[write], write)
		}
	}
}

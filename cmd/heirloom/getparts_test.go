package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// rangesServer is an S3 server with one object of 20 MiB. While held, it gives nothing but the first range of it, and
// calls asked when it is asked for another.
type rangesServer struct {
	held  atomic.Bool
	asked func()
}

const rangesSize = 20 << 20

func (s *rangesServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"v1"`)
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	from, to := 0, rangesSize-1
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 2 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, rangesSize))
	}
	if s.held.Load() && from > 0 {
		s.asked()
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
	if r.Header.Get("Range") != "" {
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method == http.MethodGet {
		w.Write(make([]byte, to-from+1))
	}
}

// An interrupted get says what it leaves, how to go on, and how to be rid of it; both ways are tried.
func TestInterruptedGet(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	server := &rangesServer{}
	far := httptest.NewServer(server)
	defer far.Close()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "it's here")
	get := func(ctx context.Context) (int, string) {
		var stderr bytes.Buffer
		code := execute(ctx, process{
			stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &stderr, workdir: os.Getwd,
			environ: []string{"HOME=" + home}, args: []string{"store", "get", "s3://b/o?endpoint=" + far.URL, filepath.Join(dir, "o")},
		})
		return code, stderr.String()
	}
	interrupted := func() string {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server.asked = cancel
		server.held.Store(true)
		code, text := get(ctx)
		if _, err := os.Stat(filepath.Join(dir, "o")); code != exitInterrupted || err == nil {
			t.Errorf("%d, %v: %s", code, err, text)
		}
		return text
	}
	_, remove, ok := strings.Cut(strings.TrimSpace(interrupted()), "and this gives it up: ")
	remove, _, _ = strings.Cut(remove, "\n")
	if !ok || len(inDir(t, dir)) != 2 {
		t.Fatalf("left are %q, and it says %q", inDir(t, dir), remove)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", remove).CombinedOutput(); err != nil || len(inDir(t, dir)) != 0 {
		t.Errorf("%s: %v, %s; left are %q", remove, err, out, inDir(t, dir))
	}
	interrupted()
	server.held.Store(false)
	if code, text := get(t.Context()); code != exitOK || strings.Join(inDir(t, dir), " ") != "o" {
		t.Errorf("%d, %s; the directory holds %q", code, text, inDir(t, dir))
	}
}

func inDir(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

package store_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

func TestOpenDBFS(t *testing.T) {
	environ := []string{"DATABRICKS_HOST=https://w.example", "DATABRICKS_TOKEN=x", "HEIRLOOM_DBFS=rest"}
	for url, want := range map[string]string{ // the URL of the store, which opens as itself
		"dbfs:/a/b":                 "dbfs:/a/b",
		"DBFS:///a//b/":             "dbfs:/a/b",
		"dbfs:/a/../b c%20":         "dbfs:/b c%20",
		"dbfs:/":                    "dbfs:/",
		"/dbfs/a":                   "dbfs:/a",
		"/dbfs":                     "dbfs:/",
		"file:///dbfs/a":            "dbfs:/a",
		"file:/dbfs/a":              "dbfs:/a",
		"dbfs:/Volumes/c/s/v":       "dbfs:/Volumes/c/s/v",
		"/Volumes/c/s/v/p":          "dbfs:/Volumes/c/s/v/p",
		"file:///Volumes/c/s/v/p/":  "dbfs:/Volumes/c/s/v/p",
		"/dbfs/Volumes/c/s/v/p":     "dbfs:/Volumes/c/s/v/p",
		"dbfs:///Volumes/c/s/v/p/q": "dbfs:/Volumes/c/s/v/p/q",
	} {
		s, err := store.Open(t.Context(), url, &store.Options{Environ: environ})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if path, ok := s.LocalPath("k"); s.URL() != want || s.Scheme() != "dbfs" || ok {
			t.Errorf("%s opens as %s, %s, with the local path %q, want %s", url, s.Scheme(), s.URL(), path, want)
		}
		if key := strings.TrimSuffix(want, "/") + "/k/o"; s.KeyURL("k/o") != key || s.Sub("k").KeyURL("o") != key {
			t.Errorf("%s: the key is %s, in a sub-store %s, want %s", url, s.KeyURL("k/o"), s.Sub("k").KeyURL("o"), key)
		}
		if again := openWith(t, s.URL(), &store.Options{Environ: environ}); again.URL() != want {
			t.Errorf("its own URL %s opens as %s", s.URL(), again.URL())
		}
		if s.Layout().CheckpointFilename() != "checkpoint.tf" {
			t.Errorf("%s: the checkpoint is %s", url, s.Layout().CheckpointFilename())
		}
		s.Close()
	}
	for _, c := range []struct{ environ, says string }{
		{"DATABRICKS_CONFIG_PROFILE=none", "the Databricks profile none"},
		{"HEIRLOOM_DBFS=fuse", "known are mount and rest"},
		{"DATABRICKS_HOST=http://w.example", "https"},
	} {
		_, err := store.Open(t.Context(), "dbfs:/p", &store.Options{Environ: []string{c.environ, "DATABRICKS_TOKEN=secret"}})
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret,") {
			t.Errorf("%s: %v, want ErrInvalid and %q", c.environ, err, c.says)
		}
	}
}

// TestRemoteViewOfDBFS follows Horovod's paths, in a volume those of its own mount.
func TestRemoteViewOfDBFS(t *testing.T) {
	environ := []string{"DATABRICKS_HOST=https://w.example", "DATABRICKS_TOKEN=x", "HEIRLOOM_DBFS=rest"}
	for url, want := range map[string]string{
		"dbfs:/h":               "/dbfs/h",
		"/dbfs/h":               "/dbfs/h",
		"dbfs:/Volumes/c/s/v/h": "/Volumes/c/s/v/h",
	} {
		s := openWith(t, url, &store.Options{Environ: environ, ValPath: "dbfs:" + strings.TrimPrefix(want, "/dbfs") + "/val"})
		view := s.Layout().Remote("r1", 0)
		if uri := s.KeyURL("runs/r1"); view.RunPath != uri {
			t.Errorf("%s: the run is at %s, want %s", url, view.RunPath, uri)
		}
		got, err := json.Marshal(view.Localize())
		if err != nil {
			t.Fatal(err)
		}
		expect := `{"train_data_path":"W/intermediate_train_data.0","val_data_path":"W/val.0","test_data_path":"W/intermediate_test_data.0",` +
			`"saving_runs":true,"runs_path":"W/runs","run_path":"W/runs/r1","checkpoint_path":"W/runs/r1/checkpoint.tf",` +
			`"logs_path":"W/runs/r1/logs","checkpoint_filename":"checkpoint.tf","logs_subdir":"logs"}`
		if expect = strings.ReplaceAll(expect, "W", want); string(got) != expect {
			t.Errorf("%s: the view is\n%s, want\n%s", url, got, expect)
		}
	}
}

func environ() *store.Options { return &store.Options{Environ: os.Environ()} }

// TestDBFSErrors has the kinds of the API come through, with what was tried, and requests tried again where that helps.
func TestDBFSErrors(t *testing.T) {
	server := servers.DBFS(t)
	for _, url := range []string{server.URL("p"), server.VolumeURL("p")} {
		s := openWith(t, url, environ())
		if err := s.Put(t.Context(), "o", []byte("x")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			fault servers.Fault
			want  error
		}{
			{servers.Fault{Status: 403, Code: "PERMISSION_DENIED"}, store.ErrPermission},
			{servers.Fault{Status: 401, Code: "UNAUTHENTICATED"}, store.ErrPermission},
			{servers.Fault{Status: 501}, store.ErrUnsupported},
			{servers.Fault{Status: 500, Code: "DATA_LOSS"}, store.ErrCorrupt},
			{servers.Fault{Status: 413}, store.ErrNoSpace},
			{servers.Fault{Status: 400, Code: "INVALID_PARAMETER_VALUE"}, store.ErrInvalid},
		} {
			server.Inject(func(*http.Request) *servers.Fault { return &c.fault })
			for verb, err := range map[string]error{"get": second(s.Get(t.Context(), "o")), "put": s.Put(t.Context(), "o", nil), "list": firstError(s, t.Context())} {
				if e, ok := errors.AsType[*store.Error](err); !ok || e.Kind != c.want || e.Op != verb || strings.Contains(err.Error(), server.Token) {
					t.Errorf("%s %s with %d %s: %v, want %v", s.URL(), verb, c.fault.Status, c.fault.Code, err, c.want)
				}
			}
		}
		var left atomic.Int64
		for _, f := range []servers.Fault{{Status: 429, Code: "REQUEST_LIMIT_EXCEEDED", RetryAfter: "0"}, {Status: 503}, {}, {Applied: true}, {Status: 500, Applied: true}} {
			left.Store(2)
			server.Inject(func(*http.Request) *servers.Fault {
				if left.Add(-1) < 0 {
					return nil
				}
				return &f
			})
			key := store.Key("made").Join(strings.ReplaceAll(f.Code, "_", "-")+"x", string(rune('a'+f.Status%26)), map[bool]string{true: "1", false: "0"}[f.Applied])
			if err := s.Create(t.Context(), key, []byte(key)); err != nil {
				t.Errorf("%s: create with %+v twice: %v", s.URL(), f, err)
			}
			if got, err := s.Get(t.Context(), key); err != nil || string(got) != string(key) {
				t.Errorf("%s: %q, %v after %+v", s.URL(), got, err, f)
			}
		}
		server.Inject(nil)
	}
}

// TestMount writes where links, exclusive renames, flushes and all that is not sequential are refused.
func TestMount(t *testing.T) {
	dir := servers.SequentialFUSE(t)
	opts := &store.Options{DBFS: store.DBFSOptions{Mount: dir}}
	s := openWith(t, "dbfs:/p", opts)
	if c := s.Capabilities(); c != (store.Capabilities{CoarseVersion: true}) {
		t.Errorf("the mount promises %+v", c)
	}
	if got := s.FsspecConfig(); len(got) != 2 || got[0].Value != "file" || got[1].Value != filepath.Join(dir, "p") {
		t.Errorf("fsspec is told %v", got)
	}
	var wins atomic.Int64
	var group sync.WaitGroup
	for range 16 { // each store has locks of its own, as another process has
		other := openWith(t, "dbfs:/p", opts)
		for range 4 {
			group.Go(func() {
				switch err := other.Create(t.Context(), "race/o", []byte("x")); {
				case err == nil:
					wins.Add(1)
				case !errors.Is(err, store.ErrExist):
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d of 64 creators won", wins.Load())
	}
	entries, err := os.ReadDir(filepath.Join(dir, "p"))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the object are %v, %v", entries, err)
	}
}

// TestMountWithoutRename refuses to write rather than to show a part of an object, and names the other way.
func TestMountWithoutRename(t *testing.T) {
	dir := servers.RenamelessFUSE(t)
	s := openWith(t, "dbfs:/p", &store.Options{DBFS: store.DBFSOptions{Mount: dir}})
	for verb, err := range map[string]error{
		"put": s.Put(t.Context(), "o", []byte("x")), "create": s.Create(t.Context(), "o", []byte("x")),
		"stream": second(s.PutFrom(t.Context(), "o", strings.NewReader(strings.Repeat("x", 2<<20)), -1)),
	} {
		if !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), "HEIRLOOM_DBFS=rest") {
			t.Errorf("%s: %v, want ErrUnsupported that names the other way", verb, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "p")); err != nil || len(entries) != 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Where the cache has no room for an index, or the one there is damaged in its middle, the answer is the same and the
// reason is said.
func TestAnswersWithoutRoomForAnIndex(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records := tracker.NewFileTracker(s.Sub("tracker"), nil)
	for i := range 300 {
		id := tracker.RunID(fmt.Sprintf("local://torchx/run-%03d", i))
		m := &tracker.Metadata{}
		m.Set("params.text", strings.Repeat("x", 1000))
		if err := records.AddMetadata(t.Context(), id, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, kib := range []int{0, 16, 64, 128, 256, 400} {
		t.Run(fmt.Sprintf("%d KiB", kib), func(t *testing.T) {
			cache := t.TempDir()
			if err := syscall.Mount("tmpfs", cache, "tmpfs", 0, fmt.Sprintf("size=%dk", max(4, kib))); err != nil {
				servers.Missing(t, err, "run the tests as root", "mount")
			}
			t.Cleanup(func() { _ = syscall.Unmount(cache, 0) })
			for range 2 {
				if stderr := runsWith(t, root, cache); !strings.Contains(stderr, "the answer is made without") {
					t.Errorf("nothing is said of a full disk: %s", stderr)
				}
			}
		})
	}
	t.Run("damaged", func(t *testing.T) {
		cache := t.TempDir()
		runsWith(t, root, cache)
		files, err := filepath.Glob(filepath.Join(cache, "heirloom", "index", "*.sqlite"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		body, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := len(body) / 3; i < len(body)/2; i++ { // what says that it is an index lies before and behind
			body[i] ^= 0x5a
		}
		if err := os.WriteFile(files[0], body, 0o600); err != nil {
			t.Fatal(err)
		}
		if stderr := runsWith(t, root, cache); !strings.Contains(stderr, "the answer is made without an index") {
			t.Errorf("nothing is said of the damage: %s", stderr)
		}
		if stderr := runsWith(t, root, cache); strings.Contains(stderr, "without an index") {
			t.Errorf("the damaged file is still there: %s", stderr)
		}
	})
}

// runsWith lists all runs with an index in a cache, and returns what was said beside.
func runsWith(t *testing.T, root, cache string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), process{
		stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		environ: []string{"HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + cache}, args: []string{"--store", root, "runs", "-o", "jsonl"}, workdir: os.Getwd,
	})
	if n := strings.Count(stdout.String(), "\n"); code != exitOK || n != 300 {
		t.Errorf("exit code %d, %d runs of 300; %s", code, n, stderr.String())
	}
	return stderr.String()
}

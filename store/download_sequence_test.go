package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest/servers"
)

// TestDownloadInSequence fetches onto a file system that takes files only from
// front to back, without holding more in memory than it may.
func TestDownloadInSequence(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	dir := servers.SequentialFUSE(t)
	const ahead = 3 // ranges in memory
	opts := &store.TransferOptions{PartSize: testPart, Parallel: 8, Memory: ahead * testPart, JournalDir: t.TempDir()}
	for _, size := range []int{0, 1, testPart, testPart + 1, 20*testPart + 17} {
		name := fmt.Sprint(size)
		_, body := testFile(t, size)
		putText(t, s, store.Key("tree/"+name), body)
		var asked atomic.Int64
		h := func(r store.Request, do func() error) error {
			if r.Op == "get" {
				written := int64(0)
				for _, path := range partsIn(t, dir) {
					info, err := os.Stat(path)
					if err == nil {
						written += info.Size()
					}
				}
				if n := asked.Add(1); n > written/testPart+ahead {
					t.Errorf("%d ranges were asked for when %d bytes were written", n, written)
				}
			}
			return do()
		}
		hook.Store(&h)
		path := filepath.Join(dir, name)
		got, err := s.Download(t.Context(), store.Key("tree/"+name), path, opts)
		if err != nil || got.Size != int64(size) {
			t.Errorf("%d bytes: %+v, %v", size, got, err)
		}
		wantFile(t, path, body)
		hook.Store(nil)
		create := *opts
		create.Create = true
		if _, err := s.Download(t.Context(), store.Key("tree/"+name), path, &create); !errors.Is(err, store.ErrExist) {
			t.Errorf("over a file: %v, want ErrExist", err)
		}
	}
	if left := partsIn(t, dir); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if _, err := s.DownloadTree(t.Context(), "tree", filepath.Join(dir, "tree"), opts); err != nil {
		t.Error(err)
	}
	wantOnly(t, filepath.Join(dir, "tree"), "0", "1", "1310737", "65536", "65537")
}

// TestDownloadInSequenceBreaksOff leaves nothing, since nothing could be taken up,
// and removes in time what a killed process left.
func TestDownloadInSequenceBreaksOff(t *testing.T) {
	s, hook := interrupted(t, "mem://")
	dir := servers.SequentialFUSE(t)
	_, body := testFile(t, 20*testPart)
	putText(t, s, "o", body)
	opts := &store.TransferOptions{PartSize: testPart, Parallel: 2, JournalDir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var part atomic.Pointer[string]
	end := endAfter("get", 6, cancel)
	h := func(r store.Request, do func() error) error {
		if found := partsIn(t, dir); len(found) == 1 {
			part.Store(&found[0])
		}
		return end(r, do)
	}
	hook.Store(&h)
	if _, err := s.Download(ctx, "o", filepath.Join(dir, "f"), opts); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled download: %v", err)
	}
	hook.Store(nil)
	wantOnly(t, dir)
	if part.Load() == nil {
		t.Fatal("there was no part file")
	}
	identity, _, ok := strings.Cut(strings.TrimPrefix(filepath.Base(*part.Load()), ".heirloom-"), "-")
	if !ok {
		t.Fatalf("the part file was %q", *part.Load())
	}
	killed, running := ".heirloom-"+identity+"-dead.part", ".heirloom-"+identity+"-alive.part"
	for name, age := range map[string]time.Duration{killed: 25 * time.Hour, running: time.Hour} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Download(t.Context(), "o", filepath.Join(dir, "f"), opts); err != nil {
		t.Error(err)
	}
	wantFile(t, filepath.Join(dir, "f"), body)
	wantOnly(t, dir, running, "f")
}

// partsIn are the unfinished downloads in a directory.
func partsIn(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".heirloom-*.part"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

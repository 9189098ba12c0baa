package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// TestRetryOptions counts tries and measures the first pause.
func TestRetryOptions(t *testing.T) {
	for name, c := range map[string]struct {
		opts            store.Options
		tries           int
		shortest, above time.Duration // of the first pause
	}{
		"by default":   {store.Options{}, 6, 0, 200 * time.Millisecond},
		"max attempts": {store.Options{MaxAttempts: 2}, 2, 0, 200 * time.Millisecond},
		"retry delay":  {store.Options{RetryDelay: 4 * time.Second}, 6, 500 * time.Millisecond, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries []time.Time
				c.opts.Intercept = func(context.Context, store.Request, func() error) error {
					tries = append(tries, time.Now())
					return store.ErrUnavailable
				}
				if err := openWith(t, "mem://", &c.opts).Put(t.Context(), "o", nil); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("put: %v", err)
				}
				if len(tries) != c.tries {
					t.Fatalf("%d tries, want %d", len(tries), c.tries)
				}
				if pause := tries[1].Sub(tries[0]); pause < c.shortest || pause > c.above {
					t.Errorf("the first pause is %v, want %v to %v", pause, c.shortest, c.above)
				}
			})
		})
	}
}

// countedSync makes one pass over a directory of that many small files and a long
// one, and counts the requests by kind, and the puts at once.
func countedSync(t *testing.T, files int, opts *store.SyncOptions, wait func(r store.Request)) (requests map[string]int, atOnce int) {
	t.Helper()
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "long"), make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	requests = map[string]int{}
	var mu sync.Mutex
	now := 0
	s := openWith(t, t.TempDir(), &store.Options{Intercept: func(_ context.Context, r store.Request, do func() error) error {
		mu.Lock()
		requests[r.Op]++
		if r.Op == "put" {
			now++
			atOnce = max(atOnce, now)
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				now--
			}()
		}
		mu.Unlock()
		wait(r)
		return do()
	}})
	y, err := s.NewSync(dir, "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	if report, err := y.Final(t.Context()); err != nil || report.Uploaded != files+1 {
		t.Errorf("%+v, %v", report, err)
	}
	return requests, atOnce
}

// TestSyncOptions sees what those options change that no other test of Sync sets.
func TestSyncOptions(t *testing.T) {
	nobody := func(store.Request) {}
	usual, _ := countedSync(t, 2, nil, nobody)
	if usual["list"] == 0 || usual["part"] != 0 {
		t.Errorf("by default: %v, want a listing and a file of 3 MiB sent whole", usual)
	}
	if fresh, _ := countedSync(t, 2, &store.SyncOptions{Fresh: true}, nobody); fresh["list"] != usual["list"]-1 {
		t.Errorf("fresh: %v, want a listing less than %v", fresh, usual)
	}
	if cut, _ := countedSync(t, 2, &store.SyncOptions{PartSize: 1 << 20}, nobody); cut["part"] != 3 {
		t.Errorf("with parts of 1 MiB: %v, want 3 of them", cut)
	}
	if _, atOnce := countedSync(t, 9, &store.SyncOptions{Parallel: 1}, nobody); atOnce != 1 {
		t.Errorf("%d puts at once, want 1", atOnce)
	}
	// Three that wait for each other end only if they go at once.
	var arrived atomic.Int64
	all := make(chan struct{})
	countedSync(t, 3, &store.SyncOptions{Parallel: 3}, func(r store.Request) {
		if r.Op != "put" || r.Bytes != 1 {
			return
		}
		if arrived.Add(1) == 3 {
			close(all)
		}
		<-all
	})
}

// TestSyncProgress adds up what is read and what is sent, over all passes, and
// takes back what need not be sent or cannot be now.
func TestSyncProgress(t *testing.T) {
	dir, s := t.TempDir(), openStore(t, t.TempDir())
	write := func(name string, size int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("long", 3<<20)
	write("short", 100)
	var reports []store.Progress
	opts := &store.SyncOptions{PartSize: 1 << 20, StateDir: t.TempDir(), Progress: func(p store.Progress) { reports = append(reports, p) }}
	y, err := s.NewSync(dir, "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := y.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	const size = 3<<20 + 100
	last := wantProgress(t, reports, store.Progress{Files: 2, FilesTotal: 2, Bytes: size, BytesTotal: size, Checked: size, CheckedTotal: size})
	if first := reports[0]; first.Checked == 0 || first.Bytes != 0 || first.ETA != 0 || first.BytesTotal != size {
		t.Errorf("the first report is %+v, want one of reading, with no time to wait", first)
	}
	write("more", 50)
	if _, err := y.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	last.Files, last.FilesTotal, last.Bytes, last.BytesTotal = 3, 3, last.Bytes+50, last.BytesTotal+50
	last.Checked, last.CheckedTotal = reports[len(reports)-1].Checked, reports[len(reports)-1].CheckedTotal // young files are read again
	wantProgress(t, reports, last)
	if err := y.Close(); err != nil {
		t.Fatal(err)
	}
	// One that has forgotten what it sent reads all, and sends nothing of the long file.
	reports, opts.StateDir = nil, t.TempDir()
	again, err := s.NewSync(dir, "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Final(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := reports[len(reports)-1]; p.Checked != size+50 || p.Bytes != p.BytesTotal || p.Files != p.FilesTotal || p.Bytes >= 3<<20 {
		t.Errorf("of what is there: %+v", p)
	}
}

func wantProgress(t *testing.T, reports []store.Progress, want store.Progress) store.Progress {
	t.Helper()
	got := reports[len(reports)-1]
	got.Rate = 0
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	return got
}

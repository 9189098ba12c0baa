package groupsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func tempFile(t testing.TB, dir string, i int) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestEachWaiterIsServed holds the first flushes until all others wait, and looks
// at what became of each.
func TestEachWaiterIsServed(t *testing.T) {
	broken := errors.New("broken disk")
	for _, n := range []int{1, 2, flushFrom - 1} {
		var g Group
		var flushed atomic.Int64
		first, joined := make(chan struct{}), make(chan struct{})
		dir := t.TempDir()
		var all sync.WaitGroup
		for i := range atOnce {
			all.Go(func() {
				g.File(tempFile(t, dir, n+i), func(*os.File) error { first <- struct{}{}; <-joined; return nil })
			})
		}
		for range atOnce { // all of them side by side
			<-first
		}
		for i := range n {
			all.Go(func() {
				err := g.File(tempFile(t, dir, i), func(*os.File) error {
					flushed.Add(1)
					if i == 0 {
						return broken
					}
					return nil
				})
				if errors.Is(err, broken) != (i == 0) {
					t.Errorf("waiter %d is told %v", i, err)
				}
			})
		}
		for waiting := 0; waiting < n; {
			g.mu.Lock()
			if g.next != nil {
				waiting = len(g.next.entries)
			}
			g.mu.Unlock()
		}
		close(joined)
		all.Wait()
		if flushed.Load() != int64(n) || g.running != 0 || g.next != nil {
			t.Errorf("%d of %d were flushed, %d run still", flushed.Load(), n, g.running)
		}
	}
}

// TestSameDirectoryOnce flushes a directory once for all who wait for it.
func TestSameDirectoryOnce(t *testing.T) {
	var flushed atomic.Int64
	count := func(*os.File) error { flushed.Add(1); return nil }
	b := &batch{done: make(chan struct{}), entries: []entry{{name: "a", sync: count}, {name: "b", sync: count}, {name: "a", sync: count}}}
	b.flush()
	if flushed.Load() != 2 {
		t.Errorf("%d flushes, want 2", flushed.Load())
	}
}

func BenchmarkFiles(b *testing.B) {
	for _, kind := range []string{"alone", "together"} {
		b.Run(kind, func(b *testing.B) {
			for range b.N {
				var g Group
				dir := b.TempDir()
				var all sync.WaitGroup
				for i := range 64 {
					f := tempFile(b, dir, i)
					f.Write(make([]byte, 4096))
					all.Go(func() {
						if kind == "alone" {
							f.Sync()
						} else {
							g.File(f, (*os.File).Sync)
						}
					})
				}
				all.Wait()
			}
		})
	}
}

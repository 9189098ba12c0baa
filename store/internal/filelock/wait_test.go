package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWait passes one lock through many hands, none of whom may find another at work.
func TestWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	var group sync.WaitGroup
	var holders atomic.Int32
	for range 16 {
		f := open(t, name)
		group.Go(func() {
			for range 20 {
				if err := filelock.Wait(t.Context(), f); err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				holders.Add(-1)
				if err := filelock.Release(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// TestWaitEndsWithItsContext: who gave up and closed the file does not take the lock later.
func TestWaitEndsWithItsContext(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	holder, waiter := open(t, name), open(t, name)
	if err := filelock.Wait(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := filelock.Wait(ctx, waiter); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(waiter.Close(), filelock.Release(holder)); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Wait(t.Context(), open(t, name)); err != nil {
		t.Error(err)
	}
}

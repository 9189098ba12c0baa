package hdfsblob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heirloom-ml/heirloom/store/internal/dirtree"
)

// testCreateRace has 64 writers of two buckets create each of many keys.
func testCreateRace(t *testing.T, authority string) {
	buckets := []*Bucket{open(t, authority, nil), open(t, authority, nil)}
	for round := range rounds(100) {
		key := fmt.Sprintf("race/%03d", round)
		var winners atomic.Int64
		var winner atomic.Value
		var unsure sync.Map // bodies whose writers were told nothing
		start := make(chan struct{})
		var wait sync.WaitGroup
		for i := range 64 {
			wait.Go(func() {
				body := fmt.Appendf(nil, "written by %d", i)
				<-start
				_, err := buckets[i%2].Create(t.Context(), key, body, "")
				switch {
				case err == nil:
					winners.Add(1)
					winner.Store(body)
				case errors.Is(err, dirtree.ErrUnavailable):
					unsure.Store(string(body), err)
				case !errors.Is(err, fs.ErrExist):
					t.Errorf("round %d, writer %d: %v, want success or ErrExist", round, i, err)
				}
			})
		}
		close(start)
		wait.Wait()
		got, err := buckets[0].get(t, key)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if why, isUnsure := unsure.Load(string(got)); isUnsure {
			t.Logf("round %d: the winner was told %v", round, why)
			winners.Add(1)
			winner.Store(got)
		}
		if n := winners.Load(); n != 1 {
			t.Fatalf("round %d has %d winners", round, n)
		}
		if !bytes.Equal(got, winner.Load().([]byte)) {
			t.Fatalf("round %d: the object is %q; the winner wrote %q", round, got, winner.Load())
		}
	}
	if left := buckets[0].raw(t, buckets[0].Dir()); left != "race" {
		t.Errorf("beside the objects there is %q", left)
	}
}

// testReplaceRace reads while others replace, with sizes and contents that differ.
func testReplaceRace(t *testing.T, authority string) {
	b := open(t, authority, nil)
	body := func(seed byte) []byte { return sealed(seed, int(seed)*1711) }
	if err := patiently(t.Context(), func() error { return second(b.Put(t.Context(), "k", body(1))) }); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	for i := range 2 {
		wait.Go(func() {
			for n := byte(i); ctx.Err() == nil; n += 2 {
				if _, err := b.Put(t.Context(), "k", body(n)); err != nil && !errors.Is(err, dirtree.ErrUnavailable) {
					t.Error(err)
				}
			}
		})
	}
	for range rounds(2000) {
		got, err := b.get(t, "k")
		if errors.Is(err, dirtree.ErrUnavailable) {
			continue // replaced time and again while being opened
		}
		if err != nil || !isSealed(got) {
			t.Fatalf("a reader saw %d bytes that nobody wrote, %v", len(got), err)
		}
	}
}

// sealed is a body that tells whether it is whole.
func sealed(seed byte, size int) []byte {
	body := bytes.Repeat([]byte{seed}, size)
	sum := sha256.Sum256(body)
	return append(body, sum[:]...)
}

func isSealed(body []byte) bool {
	if len(body) < sha256.Size {
		return false
	}
	cut := len(body) - sha256.Size
	sum := sha256.Sum256(body[:cut])
	return bytes.Equal(sum[:], body[cut:])
}

// testDeleteRace makes and removes keys of one directory, which comes and goes with them.
func testDeleteRace(t *testing.T, authority string) {
	b := open(t, authority, nil)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			key := fmt.Sprintf("a/b/c/%d", i)
			for range rounds(400) {
				if _, err := b.Create(t.Context(), key, []byte("x"), ""); err != nil {
					t.Errorf("create %s: %v", key, err)
				}
				if err := b.Delete(t.Context(), key, nil); err != nil {
					t.Errorf("delete %s: %v", key, err)
				}
			}
		})
	}
	wait.Wait()
	if left := b.raw(t, b.Dir()); left != "" {
		t.Errorf("left behind: %q", left)
	}
}

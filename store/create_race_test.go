package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// rounds is how often a test repeats: a twentieth of full, all with HEIRLOOM_STRESS=1.
func rounds(full int) int {
	if os.Getenv("HEIRLOOM_STRESS") == "1" {
		return full
	}
	return max(full/20, 1)
}

// TestLongCreateRace has 64 finish an upload of the same key at once.
func TestLongCreateRace(t *testing.T) {
	onServers(t, func(t *testing.T, s *Store, b partedBackend) {
		for round := range rounds(200) {
			raceLongCreate(t, s, b, fmt.Sprintf("race/%d", round))
		}
		wantUnfinished(t, b, "")
	})
}

func raceLongCreate(t *testing.T, s *Store, b partedBackend, key string) {
	t.Helper()
	const racers = 64
	var wins atomic.Int64
	var winner atomic.Pointer[[]byte]
	start := make(chan struct{})
	var ready, done sync.WaitGroup
	for i := range racers {
		body := fmt.Appendf(nil, "racer %d", i)
		ready.Add(1)
		done.Go(func() {
			w := s.newLongWrite(b, Key(key), key, true)
			err := w.begin(t.Context())
			if err == nil {
				p := part{size: int64(len(body)), crc: crc32c(body)}
				p.tag, err = sendPart(t.Context(), b, key, w.token, 0, body, p.crc)
				w.add(0, p)
			}
			ready.Done()
			if err != nil {
				t.Errorf("racer %d: %v", i, err)
				return
			}
			<-start
			_, err = w.complete(t.Context())
			switch {
			case err == nil:
				wins.Add(1)
				winner.Store(&body)
			case !errors.Is(err, ErrExist):
				t.Errorf("a loser gets %v, want ErrExist", err)
			}
			if err != nil {
				if err := w.abort(t.Context()); err != nil {
					t.Errorf("abort: %v", err)
				}
			}
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	if wins.Load() != 1 {
		t.Fatalf("%s: %d of %d won, want 1", key, wins.Load(), racers)
	}
	if got, err := s.Get(t.Context(), Key(key)); err != nil || !bytes.Equal(got, *winner.Load()) {
		t.Errorf("%s: %q, %v, want %q", key, got, err, *winner.Load())
	}
}

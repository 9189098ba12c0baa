package localblob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCreateRace lets 64 writers, through as many buckets, create one key. Exactly one wins, and its bytes stay.
func TestCreateRace(t *testing.T) {
	for _, means := range []string{"link", "rename"} {
		t.Run(means, func(t *testing.T) {
			dir := t.TempDir()
			buckets := make([]*Bucket, 64)
			for i := range buckets {
				buckets[i] = openTest(t, dir)
				buckets[i].linkRefused.Store(means == "rename")
			}
			probe, err := buckets[0].Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !probe.Create {
				t.Skipf("no exclusive creation by %s in %s", means, dir)
			}
			for round := range rounds(200) {
				raceOnce(t, buckets, fmt.Sprintf("round-%d/key", round))
			}
			wantNoTemps(t, buckets[0])
		})
	}
}

func raceOnce(t *testing.T, buckets []*Bucket, key string) {
	t.Helper()
	var group sync.WaitGroup
	var winners atomic.Int32
	winner := make([]string, len(buckets))
	for i, b := range buckets {
		group.Go(func() {
			body := fmt.Sprintf("writer %d", i)
			_, err := b.Create(t.Context(), key, []byte(body))
			switch {
			case err == nil:
				winners.Add(1)
				winner[i] = body
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	if winners.Load() != 1 {
		t.Fatalf("%s has %d winners", key, winners.Load())
	}
	body, err := os.ReadFile(buckets[0].Path(key))
	if err != nil {
		t.Fatal(err)
	}
	for _, won := range winner {
		if won != "" && won != string(body) {
			t.Errorf("%s won, %s is there", won, body)
		}
	}
}

// TestDeleteAgainstWrite lets deletes remove directories under the feet of writes.
func TestDeleteAgainstWrite(t *testing.T) {
	b := openTest(t, t.TempDir())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			key := fmt.Sprintf("a/b/c/%d", i)
			for range rounds(2000) {
				if _, err := b.Put(t.Context(), key, []byte(key)); err != nil {
					t.Error(err)
					return
				}
				if _, err := b.Stat(t.Context(), key); err != nil {
					t.Errorf("acknowledged and absent: %v", err)
				}
				if err := b.Delete(t.Context(), key, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if entries, err := os.ReadDir(b.Dir()); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

package tracker

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// parallelReads bounds the requests of one read.
const parallelReads = 16

// bodies are records that were read, or the reason why one of them cannot be.
type bodies map[store.Key]body

type body struct {
	data []byte
	err  error // this record alone is bad
}

// read gets all keys. A record that is damaged, gone again or not ours to read
// is passed over; anything else, such as a store that does not answer, fails
// the whole, since what is missing would look as if it had never been.
func (t *FileTracker) read(ctx context.Context, keys []store.Key) (bodies, error) {
	list := make([]body, len(keys))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(parallelReads, len(keys)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(keys)); i = next.Add(1) - 1 {
				data, err := t.s.Get(ctx, keys[i])
				if err != nil && !badRecord(err) {
					return err
				}
				list[i] = body{data, err}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	got := make(bodies, len(keys))
	for i, key := range keys {
		got[key] = list[i]
	}
	return got, nil
}

func badRecord(err error) bool {
	for _, kind := range []error{store.ErrCorrupt, store.ErrNotExist, store.ErrPermission, store.ErrInvalid} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

package dataset

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// claimDir holds the claims, one object for each index that was ever taken.
func claimDir(layout store.Layout) store.Key {
	return layout.Heirloom().Join("datasets", "index")
}

// claimIndex takes the next free index. An index is never given out twice, and
// one whose directories already hold something of another program is passed over.
func claimIndex(ctx context.Context, s *store.Store, lease *Lease) (Claim, error) {
	generation, err := nextGeneration(ctx, s, lease.Fingerprint)
	if err != nil {
		return Claim{}, err
	}
	index, err := nextIndex(ctx, s)
	if err != nil {
		return Claim{}, err
	}
	for ; ; index++ {
		taken, err := occupied(ctx, s, index)
		if err != nil {
			return Claim{}, err
		}
		if taken {
			continue
		}
		claim := newClaim(lease, index, generation)
		body, err := encode(claim)
		if err != nil {
			return Claim{}, err
		}
		err = s.Create(ctx, claim.key(s.Layout()), body)
		if err == nil || !errors.Is(err, store.ErrExist) {
			return claim, err
		}
	}
}

// newClaim fills in who claims and when. The epoch is one more than the index:
// both grow with every claim, and 0 stays free to mean none.
func newClaim(lease *Lease, index, generation int) Claim {
	return Claim{
		Version: formatVersion, Fingerprint: lease.Fingerprint, Index: index, Epoch: int64(index) + 1,
		Time: time.Now().UTC(), Host: lease.Host, PID: lease.PID, Lease: lease.Number, Generation: generation,
	}
}

// nextIndex is one above the highest that was claimed.
func nextIndex(ctx context.Context, s *store.Store) (int, error) {
	next := 0
	for object, err := range s.List(ctx, string(claimDir(s.Layout()))+"/") {
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(object.Key.Base()); err == nil && n >= next {
			next = n + 1
		}
	}
	return next, nil
}

// occupied tells whether anything lies where the splits of an index would go.
func occupied(ctx context.Context, s *store.Store, index int) (bool, error) {
	for _, name := range []Name{Train, Val, Test} {
		for _, err := range s.List(ctx, string(splitDir(s.Layout(), name, index))+"/") {
			return true, err
		}
	}
	return false, nil
}

package dataset

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Abandoned is an index whose producer failed, lost or died: no dataset.
type Abandoned struct {
	Claim Claim
	Bytes int64     // that its files take
	Last  time.Time // the last sign of life of its producer, as the store tells it
}

// FindAbandoned lists the indices that no commit names, whose producers have
// given no sign of life for grace before now, the store's time. However short
// grace is, none is among them whose lease has not run out.
func FindAbandoned(ctx context.Context, s *store.Store, now time.Time, grace time.Duration) ([]Abandoned, error) {
	r, err := readRecords(ctx, s)
	if err != nil {
		return nil, err
	}
	sizes, err := indexSizes(ctx, s)
	if err != nil {
		return nil, err
	}
	var list []Abandoned
	for _, object := range r.claims {
		index, _ := strconv.Atoi(object.Key.Base())
		bytes, there := sizes[index]
		if r.ended[index] && !there {
			continue
		}
		a := Abandoned{Bytes: bytes, Last: object.Modified}
		if err := a.read(ctx, s, object.Key); err != nil {
			return nil, err
		}
		a.Claim.Index = index
		lost, err := a.lost(ctx, s, now, grace)
		if err != nil {
			return nil, err
		}
		if lost {
			list = append(list, a)
		}
	}
	return list, nil
}

// read reads the claim. One that makes no sense is nobody's.
func (a *Abandoned) read(ctx context.Context, s *store.Store, key store.Key) error {
	body, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if err := decode("read claim", key, body, &a.Claim); !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return nil
}

// lost tells whether nobody will commit the index, and sets Last.
func (a *Abandoned) lost(ctx context.Context, s *store.Store, now time.Time, grace time.Duration) (bool, error) {
	commit, err := readCommit(ctx, s, a.Claim.Fingerprint)
	switch {
	case errors.Is(err, store.ErrNotExist):
	case err != nil:
		return false, err
	case commit.Index == a.Claim.Index && commit.Pruned == nil:
		return false, nil
	}
	lease, err := a.lease(ctx, s)
	return err == nil && now.Sub(a.Last) > max(grace, lease), err
}

// lease looks for signs of life, and tells how long the last one counts: nothing
// if the lease was given back or never taken.
func (a *Abandoned) lease(ctx context.Context, s *store.Store) (time.Duration, error) {
	key := (&Lease{Fingerprint: a.Claim.Fingerprint, Number: a.Claim.Lease}).key(s.Layout())
	taken, ended := false, false
	for object, err := range s.List(ctx, string(key)) {
		if err != nil {
			return 0, err
		}
		taken, ended = taken || object.Key == key, ended || object.Key == key+endSuffix
		if object.Modified.After(a.Last) {
			a.Last = object.Modified
		}
	}
	if !taken || ended {
		return 0, nil
	}
	held, err := readLease(ctx, s, a.Claim.Fingerprint, a.Claim.Lease)
	if errors.Is(err, store.ErrCorrupt) {
		return defaultLease, nil
	}
	if err != nil {
		return 0, err
	}
	return held.duration(), nil
}

// indexSizes sums up what lies in the directories of indices, of those that hold
// anything.
func indexSizes(ctx context.Context, s *store.Store) (map[int]int64, error) {
	sizes := make(map[int]int64)
	for _, name := range []Name{Train, Val, Test} {
		prefix := string(splitDir(s.Layout(), name, -1)) + "."
		for object, err := range s.List(ctx, prefix) {
			if err != nil {
				return nil, err
			}
			digits, _, _ := strings.Cut(string(object.Key)[len(prefix):], "/")
			if index, err := strconv.Atoi(digits); err == nil {
				sizes[index] += object.Size
			}
		}
	}
	return sizes, nil
}

// Reclaim deletes what lies at the index and returns how many bytes that were.
// From then on its producer cannot commit it, should it come back to life. Where
// the files were whole and only the commit was still to be written, that is done
// instead, if no other dataset has taken its place.
func (a Abandoned) Reclaim(ctx context.Context, s *store.Store) (freed int64, err error) {
	err = a.Claim.end(ctx, s, claimEnd{State: reclaimed})
	if errors.Is(err, store.ErrExist) {
		if committed, err := a.Claim.finish(ctx, s); committed || err != nil {
			return 0, err
		}
	} else if err != nil {
		return 0, err
	}
	return a.Claim.discard(ctx, s)
}

// finish writes the commit of an index that was sealed, if there is none yet. It
// tells whether the index is committed.
func (c Claim) finish(ctx context.Context, s *store.Store) (committed bool, err error) {
	key := c.key(s.Layout()) + endSuffix
	body, err := s.Get(ctx, key)
	if err != nil {
		return false, err
	}
	var end claimEnd
	if err := decode("read end of claim", key, body, &end); err != nil {
		return false, err
	}
	if end.State != sealed || end.Commit == nil {
		return false, nil
	}
	if body, err = encode(end.Commit); err != nil {
		return false, err
	}
	err = s.Create(ctx, end.Commit.key(s.Layout()), body)
	if err == nil || !errors.Is(err, store.ErrExist) {
		return err == nil, err
	}
	commit, err := readGeneration(ctx, s, end.Commit.Fingerprint, end.Commit.Generation)
	return err == nil && commit.Index == c.Index && commit.Pruned == nil, err
}

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
// given no sign of life since before, and the files that lie there still.
func FindAbandoned(ctx context.Context, s *store.Store, before time.Time) ([]Abandoned, error) {
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
		lost, err := a.lost(ctx, s, before)
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
func (a *Abandoned) lost(ctx context.Context, s *store.Store, before time.Time) (bool, error) {
	commit, err := readCommit(ctx, s, a.Claim.Fingerprint)
	switch {
	case errors.Is(err, store.ErrNotExist):
	case err != nil:
		return false, err
	case commit.Index == a.Claim.Index:
		return false, nil
	}
	lease := &Lease{Fingerprint: a.Claim.Fingerprint, Number: a.Claim.Lease}
	for object, err := range s.List(ctx, string(lease.key(s.Layout()))) {
		if err != nil {
			return false, err
		}
		if object.Modified.After(a.Last) {
			a.Last = object.Modified
		}
	}
	return a.Last.Before(before), nil
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
	err = s.Create(ctx, commitKey(s.Layout(), end.Commit.Fingerprint), body)
	if err == nil || !errors.Is(err, store.ErrExist) {
		return err == nil, err
	}
	commit, err := readCommit(ctx, s, end.Commit.Fingerprint)
	return err == nil && commit.Index == c.Index, err
}

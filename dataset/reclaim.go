package dataset

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// The states in which an index ends.
const (
	sealed    = "sealed"    // its files are whole; the commit follows
	reclaimed = "reclaimed" // nobody may commit it; its files are deleted
)

// claimEnd is how a claim ended, created once beside it. Whoever is to commit an
// index seals it first, and whoever deletes the files of one that was abandoned
// ends it first: so a producer that stood still for days can commit what was
// deleted as little as one can delete what is about to be committed.
type claimEnd struct {
	Version int       `json:"version"` // of this format: 1
	State   string    `json:"state"`
	Time    time.Time `json:"time"`
	Commit  *Commit   `json:"commit,omitempty"` // of a sealed index
}

func (c Claim) key(layout store.Layout) store.Key {
	return claimDir(layout).Join(numbered(c.Index))
}

// end records how the claim ended. The error has kind store.ErrExist if that was
// said before.
func (c Claim) end(ctx context.Context, s *store.Store, end claimEnd) error {
	end.Version, end.Time = formatVersion, time.Now().UTC()
	body, err := encode(end)
	if err != nil {
		return err
	}
	return s.Create(ctx, c.key(s.Layout())+endSuffix, body)
}

// seal ends the claim with the commit that is to follow.
func (c Claim) seal(ctx context.Context, s *store.Store, commit *Commit) error {
	err := c.end(ctx, s, claimEnd{State: sealed, Commit: commit})
	if errors.Is(err, store.ErrExist) {
		return failure("commit dataset", c.key(s.Layout()), store.ErrConflict,
			fmt.Errorf("index %d was reclaimed, as its producer gave no sign of life", c.Index))
	}
	return err
}

// abandon ends the claim of a producer that failed, and deletes what it wrote.
// It is tried once, also where ctx has ended; prune does what remains.
func (c Claim) abandon(ctx context.Context, s *store.Store) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := c.end(ctx, s, claimEnd{State: reclaimed}); err == nil {
		_, _ = deleteIndex(ctx, s, c.Index)
	}
}

// overrule says, in place of a seal, that the index is reclaimed: half of its
// files are not to be committed.
func (c Claim) overrule(ctx context.Context, s *store.Store) error {
	body, err := encode(claimEnd{Version: formatVersion, State: reclaimed, Time: time.Now().UTC()})
	if err != nil {
		return err
	}
	return s.Put(ctx, c.key(s.Layout())+endSuffix, body)
}

// discard deletes the files of an index in whose place another was committed.
func (c Claim) discard(ctx context.Context, s *store.Store) (freed int64, err error) {
	if err := c.overrule(ctx, s); err != nil {
		return 0, err
	}
	return deleteIndex(ctx, s, c.Index)
}

// deleteIndex deletes what lies in the directories of an index, which nobody may
// commit any more, and returns how many bytes that were.
func deleteIndex(ctx context.Context, s *store.Store, index int) (freed int64, err error) {
	for _, name := range []Name{Train, Val, Test} {
		n, err := deleteDir(ctx, s, splitDir(s.Layout(), name, index))
		freed += n
		if err != nil {
			return freed, err
		}
	}
	return freed, nil
}

// deleteDir deletes what lies below dir. What is gone already is no error.
func deleteDir(ctx context.Context, s *store.Store, dir store.Key) (freed int64, err error) {
	for object, err := range s.List(ctx, string(dir)+"/") {
		if err != nil {
			return freed, err
		}
		if err := s.Delete(ctx, object.Key); err != nil && !errors.Is(err, store.ErrNotExist) {
			return freed, err
		}
		freed += object.Size
	}
	return freed, nil
}

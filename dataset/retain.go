package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// DefaultGrace is how long what is marked stays, and how long a producer may have
// been silent before what it left is reclaimed.
const DefaultGrace = 24 * time.Hour

// Policy says which datasets may go: those that any of its rules lets go and
// nothing holds. The zero value lets none go.
type Policy struct {
	OlderThan time.Duration // neither made nor used for so long; 0 = no rule
	MaxBytes  int64         // the oldest, until the others are no larger than that; 0 = no rule
	Unused    bool          // no run has used it
	Named     bool          // also those that have a name
}

// Candidate is a dataset with what is known of its use.
type Candidate struct {
	Item
	Held string    // what needs it, for people: "train-x is alive and used it"; "" = nothing
	Used bool      // by any run
	Last time.Time // when it was last used; zero = never
}

// Decision is what becomes of a candidate.
type Decision struct {
	Keep bool
	Why  string
}

// Decide applies the policy at the time now, in the order of the candidates.
func (p Policy) Decide(list []Candidate, now time.Time) []Decision {
	out := make([]Decision, len(list))
	total := int64(0)
	for i, c := range list {
		out[i] = p.decide(c, now)
		if !c.Adopted() {
			total += c.Bytes()
		}
	}
	if p.MaxBytes > 0 {
		p.shrink(list, out, total)
	}
	return out
}

func (p Policy) decide(c Candidate, now time.Time) Decision {
	switch {
	case c.Held != "":
		return Decision{true, c.Held}
	case len(c.Names) > 0 && !p.Named:
		return Decision{true, "it has a name"}
	case p.OlderThan > 0 && now.Sub(c.touched()) > p.OlderThan:
		return Decision{false, "neither made nor used for " + p.OlderThan.String()}
	case p.Unused && !c.Used:
		return Decision{false, "no run has used it"}
	}
	return Decision{true, "no rule lets it go"}
}

// touched is when the dataset was last made or used.
func (c Candidate) touched() time.Time {
	if c.Last.After(c.Committed) {
		return c.Last
	}
	return c.Committed
}

// shrink lets the oldest go until what stays is small enough.
func (p Policy) shrink(list []Candidate, out []Decision, total int64) {
	order := make([]int, 0, len(list))
	for i, c := range list {
		switch {
		case !out[i].Keep && !c.Adopted():
			total -= c.Bytes()
		case c.Held == "" && (len(c.Names) == 0 || p.Named) && !c.Adopted():
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return list[a].touched().Compare(list[b].touched()) })
	for _, i := range order {
		if total <= p.MaxBytes {
			return
		}
		if out[i].Keep {
			out[i] = Decision{false, fmt.Sprintf("the datasets take more than %d bytes, and it is the oldest", p.MaxBytes)}
			total -= list[i].Bytes()
		}
	}
}

func markKey(layout store.Layout, fingerprint store.Digest) store.Key {
	return layout.Heirloom().Join("datasets", marksDir, string(fingerprint))
}

// Mark is the first step of a deletion: from now on a grace time runs, in which
// everything works as before.
func (i Item) Mark(ctx context.Context, s *store.Store) error {
	body, err := encode(leaseEnd{Version: formatVersion, Time: time.Now().UTC()})
	if err != nil {
		return err
	}
	err = s.Create(ctx, markKey(s.Layout(), i.Commit.Fingerprint), body)
	if errors.Is(err, store.ErrExist) {
		return nil
	}
	return err
}

// Unmark takes the mark away.
func (i Item) Unmark(ctx context.Context, s *store.Store) error {
	return gone(s.Delete(ctx, markKey(s.Layout(), i.Commit.Fingerprint)))
}

// Delete is the second step: the dataset ceases to exist, then its files go, and
// the number of bytes is returned. Of one that was adopted only our records go.
// Its commit stays, and says so, and its names stay, so that they never come to
// mean another. Called again it goes
// on where it was interrupted, and so does Abandoned.
func (i Item) Delete(ctx context.Context, s *store.Store) (freed int64, err error) {
	claim := Claim{Index: i.Commit.Index}
	if !i.Adopted() {
		// In place of the seal, by which the commit would be taken for one that was lost.
		if err := claim.overrule(ctx, s); err != nil {
			return 0, err
		}
	}
	if err := i.Commit.retire(ctx, s); err != nil {
		return 0, err
	}
	if i.Adopted() {
		_, err = deleteDir(ctx, s, i.Commit.Splits[Train].Dir)
	} else {
		freed, err = deleteIndex(ctx, s, i.Commit.Index)
	}
	if err != nil {
		return freed, err
	}
	return freed, gone(s.Delete(ctx, markKey(s.Layout(), i.Commit.Fingerprint)))
}

// gone takes an object that is not there for one that was deleted.
func gone(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

// StoreTime is the time on the clock that the store dates its objects by. It
// writes one object to learn it.
func StoreTime(ctx context.Context, s *store.Store) (time.Time, error) {
	key := s.Layout().Heirloom().Join("clock")
	if err := s.Put(ctx, key, []byte(time.Now().UTC().Format(time.RFC3339Nano)+"\n")); err != nil {
		return time.Time{}, err
	}
	object, err := s.Stat(ctx, key)
	return object.Modified, err
}

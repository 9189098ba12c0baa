package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// DefaultGrace is how long a version stays after a newer one took its place, for those who still read it, and how long
// a publisher may have been silent before its version is reclaimed.
const DefaultGrace = 24 * time.Hour

// DefaultKeep is how many versions stay whatever their age.
const DefaultKeep = 2

// Policy says which versions go. The zero value has the defaults.
type Policy struct {
	Grace time.Duration // 0 = DefaultGrace
	Now   bool          // without any grace
	Keep  int           // the newest that stay, at least 1; 0 = DefaultKeep
}

func (p Policy) grace() time.Duration {
	switch {
	case p.Now:
		return 0
	case p.Grace > 0:
		return p.Grace
	}
	return DefaultGrace
}

func (p Policy) keep() int {
	if p.Keep > 0 {
		return p.Keep
	}
	return DefaultKeep
}

// Reclaimed is a version that went, or would go.
type Reclaimed struct {
	Number int64
	Why    string
	Bytes  int64
}

// due is a version that may go.
type due struct {
	*version
	why string
}

// due lists the versions that may go at a time of the store's clock, by number.
func (p Policy) due(vs *versions, now time.Time) []due {
	var list []due
	complete := slices.DeleteFunc(slices.Clone(vs.list), func(v *version) bool { return !v.complete() })
	for i, v := range complete {
		if i+p.keep() >= len(complete) {
			break
		}
		if next := complete[i+1]; now.Sub(next.manifest.Modified) >= p.grace() {
			list = append(list, due{v, fmt.Sprintf("version %d took its place on %s", next.number, next.manifest.Modified.UTC().Format(time.DateTime))})
		}
	}
	for _, v := range vs.list {
		if !v.complete() && !v.empty() && now.Sub(v.seen()) >= p.grace() {
			list = append(list, due{v, "it was begun and never finished, or not wholly deleted"})
		}
	}
	slices.SortFunc(list, func(a, b due) int { return int(a.number - b.number) })
	return list
}

// time is the latest time that the store's clock showed in a listing.
func (vs *versions) time() (last time.Time) {
	for _, v := range vs.list {
		if t := v.seen(); t.After(last) {
			last = t
		}
	}
	return last
}

// Prune reclaims the versions that may go at a time of the store's clock (see dataset.StoreTime), or only names them.
// What it did before an error is returned with it.
func Prune(ctx context.Context, s *store.Store, policy Policy, now time.Time, dryRun bool) ([]Reclaimed, error) {
	found, err := list(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("prune catalog: %w", err)
	}
	if dryRun {
		var list []Reclaimed
		for _, d := range policy.due(found, now) {
			list = append(list, Reclaimed{d.number, d.why, d.bytes()})
		}
		return list, nil
	}
	return policy.reclaim(ctx, s, found, now, time.Now)
}

// reclaim deletes what is due: one request for each object.
func (p Policy) reclaim(ctx context.Context, s *store.Store, vs *versions, now time.Time, clock func() time.Time) ([]Reclaimed, error) {
	var done []Reclaimed
	for _, d := range p.due(vs, now) {
		gone, err := d.reclaim(ctx, s, clock)
		if err != nil {
			return done, fmt.Errorf("reclaim version %d of the catalog: %w; what was begun, the next call ends", d.number, err)
		}
		if gone {
			done = append(done, Reclaimed{d.number, d.why, d.bytes()})
		}
	}
	return done, nil
}

// reclaim deletes a version. Of one that is complete the manifest goes first, so that nobody begins to read it; of any
// other a manifest is created that says so, which stays, so that its publisher cannot end it any more. It is false for
// one that its publisher ended meanwhile.
func (v *version) reclaim(ctx context.Context, s *store.Store, clock func() time.Time) (bool, error) {
	if v.complete() {
		if err := gone(s.Delete(ctx, v.manifest.Key)); err != nil {
			return false, err
		}
	} else if sealed, err := v.seal(ctx, s, clock); !sealed || err != nil {
		return false, err
	}
	for _, object := range v.tables {
		if err := gone(s.Delete(ctx, object.Key)); err != nil {
			return false, err
		}
	}
	if v.claim == nil {
		return true, nil
	}
	return true, gone(s.Delete(ctx, v.claim.Key))
}

// seal stands in place of the manifest of a version that is never to be complete. It is short: see maxSeal.
type seal struct {
	Version   int       `json:"version"`
	Number    int64     `json:"number"`
	Reclaimed time.Time `json:"reclaimed"`
}

// seal sees that the version can no longer be ended.
func (v *version) seal(ctx context.Context, s *store.Store, clock func() time.Time) (bool, error) {
	body, err := encode(seal{Version: format, Number: v.number, Reclaimed: clock().UTC()})
	if err != nil {
		return false, err
	}
	key := Root(s.Layout()).Join(dirName(v.number), manifestName)
	err = s.Create(ctx, key, body)
	if !errors.Is(err, store.ErrExist) {
		return err == nil, err
	}
	m, err := readManifest(ctx, s, key)
	return err == nil && m.Reclaimed != nil, err
}

// gone takes an object that is not there for one that was deleted.
func gone(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return nil
	}
	return err
}

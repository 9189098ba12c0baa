package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
)

// Newest reads the manifest of the newest version: one request, and a listing more where latest.json is missing or
// damaged. The error has kind store.ErrNotExist if nothing was ever published, and store.ErrUnsupported for a catalog of
// a newer format.
func Newest(ctx context.Context, s *store.Store) (*Manifest, error) {
	m, err := readManifest(ctx, s, Root(s.Layout()).Join(latestName))
	if errors.Is(err, store.ErrNotExist) || errors.Is(err, store.ErrCorrupt) {
		return newestListed(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("find catalog: %w", err)
	}
	return m, nil
}

// newestListed finds it without latest.json.
func newestListed(ctx context.Context, s *store.Store) (*Manifest, error) {
	found, err := list(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("find catalog: %w", err)
	}
	m, err := found.newest(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("find catalog: %w", err)
	}
	if m == nil {
		root := Root(s.Layout())
		return nil, &store.Error{Op: "find catalog", Key: string(root), Kind: store.ErrNotExist, Err: errors.New("nothing was published yet")}
	}
	return m, nil
}

// State is what became of a version.
type State string

// The states of versions.
const (
	Current    State = "current"    // the newest
	Kept       State = "kept"       // for those who still read it
	Unfinished State = "unfinished" // its publisher is at work, or died
)

// Entry is one version in a list.
type Entry struct {
	Number   int64
	State    State
	Bytes    int64     // of all its objects
	Manifest *Manifest // nil: it is unfinished, or the manifest is damaged
}

// List lists the versions by number, those that were reclaimed left out: one listing, and one request for each that is
// complete.
func List(ctx context.Context, s *store.Store) ([]Entry, error) {
	found, err := list(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("list catalog: %w", err)
	}
	var entries []Entry
	current := -1
	for _, v := range found.list {
		if v.sealed() {
			continue
		}
		e := Entry{Number: v.number, State: Unfinished, Bytes: v.bytes()}
		if v.complete() {
			e.State = Kept
			e.Manifest, err = readManifest(ctx, s, v.manifest.Key)
			if err == nil {
				current = len(entries)
			} else if !errors.Is(err, store.ErrCorrupt) {
				return nil, fmt.Errorf("list catalog: %w", err)
			}
		}
		entries = append(entries, e)
	}
	if current >= 0 {
		entries[current].State = Current
	}
	return entries, nil
}

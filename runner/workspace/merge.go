package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
)

// Placed is a tree and where it goes.
type Placed struct {
	Digest store.Digest
	To     string // slash path relative to the directory that is restored into; "" = that directory
}

// RestoreAll is [Restore] for several trees in one directory, the later ones over
// the earlier. Where a directory of one is a file of another the error has kind
// store.ErrConflict.
func RestoreAll(ctx context.Context, s *store.Store, list []Placed, dir string) error {
	merged := map[string]Entry{}
	for _, p := range list {
		t, err := Load(ctx, s, p.Digest)
		if err == nil {
			err = overlay(merged, t, p.To)
		}
		if err != nil {
			return fmt.Errorf("restore workspace: %w", err)
		}
	}
	t := &Tree{}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		t.add(merged[name])
	}
	if len(list) > 0 {
		t.Digest = list[0].Digest
	}
	if err := t.restore(ctx, s, dir); err != nil {
		return fmt.Errorf("restore workspace: %w", err)
	}
	return nil
}

// CleanPlace is a place in a workspace as [Placed] wants it. What is absolute or
// leads out is store.ErrInvalid.
func CleanPlace(to string) (string, error) {
	clean := path.Clean("./" + to)
	if path.IsAbs(to) || !fs.ValidPath(clean) {
		return "", fmt.Errorf("%q is no place below the working directory: %w", to, store.ErrInvalid)
	}
	if clean == "." {
		return "", nil
	}
	return clean, nil
}

// overlay adds a tree to what is merged, with the directories that lead to it.
func overlay(merged map[string]Entry, t *Tree, to string) error {
	to, err := CleanPlace(to)
	if err != nil {
		return err
	}
	var entries []Entry
	for at := to; at != "" && at != "."; at = path.Dir(at) {
		if _, ok := merged[at]; !ok || merged[at].Kind != Dir {
			entries = append(entries, Entry{Path: at, Kind: Dir, Mode: 0o755})
		}
	}
	for _, e := range t.Entries {
		e.Path = path.Join(to, e.Path)
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	for _, e := range entries {
		if old, ok := merged[e.Path]; ok && (old.Kind == Dir) != (e.Kind == Dir) {
			return fmt.Errorf("%q is a %s in one workspace and a %s in another: %w", e.Path, old.Kind, e.Kind, store.ErrConflict)
		}
		merged[e.Path] = e
	}
	return nil
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// commitKey is where the commit of a dataset lies that was pruned so many times
// before.
func commitKey(layout store.Layout, fingerprint store.Digest, generation int) store.Key {
	name := string(fingerprint)
	if generation > 0 {
		name += "." + strconv.Itoa(generation)
	}
	return layout.Heirloom().Join("datasets", name)
}

func (c Commit) key(layout store.Layout) store.Key {
	return commitKey(layout, c.Fingerprint, c.Generation)
}

// parseCommitName reads the last element of a commit's key.
func parseCommitName(name string) (fingerprint store.Digest, generation int) {
	digits, number, _ := strings.Cut(name, ".")
	generation, _ = strconv.Atoi(number) // 0 where there is none
	return store.Digest(digits), generation
}

// readCommit reads the commit of a dataset, the last one if it was pruned: one
// request, and one more for each time it was. The error has kind
// store.ErrNotExist if it was never committed.
func readCommit(ctx context.Context, s *store.Store, fingerprint store.Digest) (last Commit, err error) {
	for generation := 0; ; generation++ {
		c, err := readGeneration(ctx, s, fingerprint, generation)
		if generation > 0 && errors.Is(err, store.ErrNotExist) {
			return last, nil
		}
		if err != nil || c.Pruned == nil {
			return c, err
		}
		last = c
	}
}

func readGeneration(ctx context.Context, s *store.Store, fingerprint store.Digest, generation int) (Commit, error) {
	key := commitKey(s.Layout(), fingerprint, generation)
	body, err := s.Get(ctx, key)
	if err != nil {
		return Commit{}, err
	}
	var c Commit
	if err := decode("read commit", key, body, &c); err != nil {
		return Commit{}, err
	}
	if c.Fingerprint != fingerprint || c.Generation != generation {
		return Commit{}, failure("read commit", key, store.ErrCorrupt, fmt.Errorf("it is the commit of %s", c.key(s.Layout()).Base()))
	}
	return c, nil
}

// nextGeneration is that of a dataset which is not committed.
func nextGeneration(ctx context.Context, s *store.Store, fingerprint store.Digest) (int, error) {
	c, err := readCommit(ctx, s, fingerprint)
	switch {
	case errors.Is(err, store.ErrNotExist):
		return 0, nil
	case err != nil || c.Pruned == nil:
		return c.Generation, err
	}
	return c.Generation + 1, nil
}

// retire says in the commit that the dataset is no more. That stays.
func (c Commit) retire(ctx context.Context, s *store.Store) error {
	now := time.Now().UTC()
	c.Pruned = &now
	body, err := encode(c)
	if err != nil {
		return err
	}
	return s.Put(ctx, c.key(s.Layout()), body)
}

// find reads the commit of a dataset, and looks whether its first split is in
// place. The error has kind store.ErrNotExist only if it is not committed.
func find(ctx context.Context, s *store.Store, fingerprint store.Digest) (*Dataset, error) {
	c, err := readCommit(ctx, s, fingerprint)
	if err != nil {
		return nil, err
	}
	if c.Pruned != nil {
		return nil, failure("find dataset", c.key(s.Layout()), store.ErrNotExist, fmt.Errorf("it was pruned on %s", c.Pruned.Format(time.DateOnly)))
	}
	return &Dataset{Commit: c}, c.inPlace(ctx, s)
}

// inPlace looks whether the manifest of the first split is there, in its size:
// one request, which finds what was deleted or overwritten by whoever does not
// know of commits. Open holds every file against the manifest.
func (c Commit) inPlace(ctx context.Context, s *store.Store) error {
	split, ok := c.Splits[Train]
	if !ok {
		return failure("read commit", c.key(s.Layout()), store.ErrCorrupt, errors.New("it names no split for training"))
	}
	key := split.Dir.Join(ManifestName)
	object, err := s.Stat(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotExist):
		return errGone(key)
	case err != nil:
		return err
	case split.ManifestBytes > 0 && object.Size != split.ManifestBytes:
		return errReplaced(key)
	}
	return nil
}

func errGone(key store.Key) error {
	return failure("read manifest", key, store.ErrCorrupt,
		errors.New("the dataset is committed, but its manifest is gone; put its files back, or prune it and stage it anew"))
}

func errReplaced(key store.Key) error {
	return failure("read manifest", key, store.ErrCorrupt,
		errors.New("it is not the manifest that was committed; put that back, or prune the dataset and stage it anew"))
}

// Manifest reads the manifest of a split. The error has kind store.ErrNotExist if
// the dataset has no such split, and store.ErrCorrupt if its manifest is gone or
// is not the one that was committed.
func (d *Dataset) Manifest(ctx context.Context, s *store.Store, name Name) (*Manifest, error) {
	split, ok := d.Commit.Splits[name]
	if !ok {
		return nil, failure("read manifest", d.Commit.key(s.Layout()), store.ErrNotExist, fmt.Errorf("the dataset has no split %q", name))
	}
	key := split.Dir.Join(ManifestName)
	body, err := s.Get(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return nil, errGone(key)
	}
	if err != nil {
		return nil, err
	}
	if digest(body) != split.ManifestSHA256 {
		return nil, errReplaced(key)
	}
	m := new(Manifest)
	return m, decode("read manifest", key, body, m)
}

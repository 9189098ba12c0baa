package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// datasetSource says what an input of a dataset is: a dataset by its name, a file or directory of this machine, a URL,
// or a key of the store, tried in this order.
func (a *app) datasetSource(ctx context.Context, found *spots, text string, hash bool) (dataset.Source, error) {
	if source, ok, err := namedSource(ctx, found.store, text); ok || err != nil {
		return source, err
	}
	at, err := a.inputSpot(ctx, found, text)
	if err != nil {
		return dataset.Source{}, err
	}
	return dataset.Identify(ctx, at.store, at.key, hash)
}

// namedSource is the dataset that text names; NAME alone is taken for a path.
func namedSource(ctx context.Context, s *store.Store, text string) (dataset.Source, bool, error) {
	ref, err := dataset.ParseRef(text)
	if err != nil || ref.Version == "" {
		return dataset.Source{}, false, nil
	}
	label, err := dataset.Resolve(ctx, s, ref)
	switch {
	case errors.Is(err, store.ErrNotExist) && !ref.IsLatest():
		return dataset.Source{}, false, nil // it may be a file
	case err != nil:
		return dataset.Source{}, false, err
	}
	return dataset.Source{URI: label.Ref().String(), Digest: label.Fingerprint}, true, nil
}

// inputSpot is where an input lies. A path that is there on this machine comes before a key of the store.
func (a *app) inputSpot(ctx context.Context, found *spots, text string) (spot, error) {
	if location().MatchString(text) || filepath.IsAbs(text) {
		return found.at(ctx, text)
	}
	dir, err := a.workdir()
	if err != nil {
		return spot{}, err
	}
	path := filepath.Join(dir, text)
	if _, err := os.Stat(path); err == nil {
		return found.at(ctx, path)
	}
	return found.at(ctx, text)
}

package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/dataset"
	"github.com/heirloom-ml/heirloom/store"
)

// datasetSplit is one directory of Parquet that the user named.
type datasetSplit struct {
	name     dataset.Name // "" where a path was given
	spot     spot
	manifest store.Digest // as it was committed; "" = not known
	commit   *dataset.Commit
	home     *store.Store // of the commit
	adopted  bool         // it lies where others put it, and its manifest in home
	label    dataset.Ref
}

// datasetSplits is what text means: all splits of a dataset by its name or the beginning of its fingerprint, train
// first, or the directory or file at a path or URL.
func (a *app) datasetSplits(ctx context.Context, text string) ([]datasetSplit, error) {
	found, err := a.spots(ctx)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(text, `/\`) && text != "." {
		d, label, err := dataset.Lookup(ctx, found.store, text)
		if err == nil {
			return a.splitsOf(ctx, found, d, label.Ref())
		}
		if !errors.Is(err, store.ErrNotExist) && !errors.Is(err, store.ErrInvalid) {
			return nil, err
		}
		if state, statusErr := dataset.Status(ctx, found.store, store.Key(text)); statusErr == nil && state == dataset.Absent {
			return nil, notListed(err) // of the dataset, which is likelier meant
		}
	}
	s, err := found.at(ctx, text)
	return []datasetSplit{{spot: s}}, err
}

// splitsOf lists the splits of a dataset that is committed.
func (a *app) splitsOf(ctx context.Context, found *spots, d *dataset.Dataset, ref dataset.Ref) ([]datasetSplit, error) {
	var list []datasetSplit
	for _, name := range slices.SortedFunc(maps.Keys(d.Commit.Splits), trainFirst) {
		split := d.Commit.Splits[name]
		one := datasetSplit{name: name, manifest: split.ManifestSHA256, commit: &d.Commit, home: found.store, label: ref}
		one.spot = spot{store: found.store, key: split.Dir, text: string(split.Dir)}
		if split.URL != "" { // adopted where it lies; the manifest lies with us
			var err error
			if one.spot, err = found.at(ctx, split.URL); err != nil {
				return nil, err
			}
			one.manifest, one.adopted = "", true
		}
		list = append(list, one)
	}
	return list, nil
}

// notListed adds to a dataset that is not found where to look.
func notListed(err error) error {
	if errors.Is(err, store.ErrNotExist) {
		return &advised{err: err, advice: "heirloom dataset ls lists them"}
	}
	return err
}

func trainFirst(a, b dataset.Name) int {
	order := []dataset.Name{dataset.Train, dataset.Val, dataset.Test}
	return slices.Index(order, a) - slices.Index(order, b)
}

// oneSplit is the split called name of what text means; "" is the first.
func (a *app) oneSplit(ctx context.Context, text, name string) (datasetSplit, error) {
	splits, err := a.datasetSplits(ctx, text)
	if err != nil {
		return datasetSplit{}, err
	}
	for _, s := range splits {
		if name == "" || string(s.name) == name {
			return s, nil
		}
	}
	return datasetSplit{}, &kindError{text: "dataset " + text + " has no split " + name, kind: store.ErrNotExist}
}

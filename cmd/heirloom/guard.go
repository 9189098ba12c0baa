package main

import (
	"context"
	"errors"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
)

// guard refuses a spot that commands which write or delete bytes would do harm to: what heirloom itself keeps in its
// store, whole buckets, and the root of the local file system. The error has kind store.ErrPermission.
func (s *spots) guard(ctx context.Context, at spot, force bool) error {
	if path, ok := at.store.LocalPath(at.key); ok && path == "/" {
		return invalidf("/ is the whole file system")
	}
	if force {
		return nil
	}
	if at.key == "" {
		return protected(at.url())
	}
	uri, err := store.CanonicalURI(at.store.KeyURL(at.key), "")
	if err != nil {
		return err
	}
	for _, own := range s.own() {
		if uri == own || strings.HasPrefix(uri, own+"/") || strings.HasPrefix(own, uri+"/") {
			return protected(at.url())
		}
	}
	return s.guardOther(ctx, at, uri)
}

// guardRuns refuses the directory of all runs, and what it lies in, to those who delete. The error has kind
// store.ErrPermission.
func (s *spots) guardRuns(at spot, force bool) error {
	uri, err := store.CanonicalURI(at.store.KeyURL(at.key), "")
	if force || err != nil {
		return err
	}
	runs, err := store.CanonicalURI(s.store.KeyURL(s.store.Layout().Runs()), "")
	if err != nil || uri != runs && !strings.HasPrefix(runs, uri+"/") {
		return err
	}
	return &advised{
		err:    &kindError{text: store.RedactURL(at.url()) + " holds the outputs of all runs", kind: store.ErrPermission},
		advice: "--force deletes them all the same; heirloom rm deletes a run, and can restore it",
	}
}

// own lists the canonical URIs of what belongs to heirloom in the configured place.
func (s *spots) own() []string {
	layout := s.store.Layout()
	var list []string
	for _, url := range []string{s.store.KeyURL(layout.Tracker()), s.store.KeyURL(layout.Heirloom()), s.tracker.Store().KeyURL("")} {
		if uri, err := store.CanonicalURI(url, ""); err == nil {
			list = append(list, uri)
		}
	}
	return list
}

// guardOther does the same for the directories of other stores, which the record in a tracker's root tells.
func (s *spots) guardOther(ctx context.Context, at spot, uri string) error {
	if !at.byURL {
		return nil
	}
	elements := strings.Split(uri, "/")
	for i, element := range elements {
		if element != "tracker" && element != "heirloom" || i < 3 {
			continue
		}
		root := strings.Join(elements[:i], "/")
		other, err := s.elsewhere(ctx, openable(root)+s.options(at.text, uri))
		if err != nil {
			continue // no store can lie there
		}
		_, err = other.Stat(ctx, trackerRecord)
		if err == nil {
			return protected(at.url())
		}
		if !errors.Is(err, store.ErrNotExist) {
			return err
		}
	}
	return nil
}

// trackerRecord is what the tracker of a store keeps in its root.
const trackerRecord store.Key = "tracker/heirloom.json"

// isTrackerRoot says whether a key is the record in the root of some tracker.
func isTrackerRoot(key store.Key) bool { return key.Base() == trackerRecord.Base() }

func protected(url string) error {
	return &advised{
		err:    &kindError{text: store.RedactURL(url) + " is what heirloom itself needs, or a whole bucket", kind: store.ErrPermission},
		advice: "--force does it all the same",
	}
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Place is a directory of a store.
type Place struct {
	Store *store.Store
	Dir   store.Key
}

// AdoptOptions adjust Adopt. Nil and the zero value are the defaults.
type AdoptOptions struct {
	// ReadData reads and decodes all data, where the default is footers alone. The files are
	// then known by their SHA-256 in place of versions, and Check compares it.
	ReadData bool
}

// Adopt makes a dataset of Parquet that lies elsewhere, flat or in Hive's
// partitions, a directory for each split, and records it in s. Nothing is copied or
// written there: the files are described by their footers, and known by names, sizes and
// what their store calls their versions, not by their bytes. There must be a split Train; Val
// and Test may be there, with the same columns. hit says that this very content was adopted
// before, or was staged in s.
//
// Errors have kind store.ErrNotExist if there are no data, store.ErrInvalid for a
// file, for files of different columns and for splits that overlap, store.ErrUnsupported for the
// tables of Delta and Iceberg, of which some files may not count, store.ErrConflict if
// somebody writes there, and store.ErrCorrupt for what is no Parquet, is damaged or was never
// finished.
func Adopt(ctx context.Context, s *store.Store, splits map[Name]Place, opts *AdoptOptions) (d *Dataset, hit bool, err error) {
	if opts == nil {
		opts = new(AdoptOptions)
	}
	if err := checkPlaces(splits); err != nil {
		return nil, false, failure("adopt dataset", splits[Train].Dir, store.ErrInvalid, err)
	}
	if d, err := staged(ctx, s, splits); d != nil || err != nil {
		return d, d != nil, err
	}
	var list []*adoption
	for _, name := range adoptedNames() {
		if place, ok := splits[name]; ok {
			a := &adoption{Place: place, name: name}
			if err := a.look(ctx, opts); err != nil {
				return nil, false, err
			}
			list = append(list, a)
		}
	}
	spec := adoptedSpec(list, opts)
	fingerprint, err := spec.Fingerprint()
	if err != nil {
		return nil, false, err
	}
	d, err = find(ctx, s, fingerprint)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return d, err == nil, err
	}
	for _, a := range list {
		if err := a.describe(ctx, list[0]); err != nil {
			return nil, false, err
		}
		a.manifest.Version, a.manifest.Fingerprint, a.manifest.Split, a.manifest.Index = formatVersion, fingerprint, a.name, -1
		a.manifest.Spec, a.manifest.Created = specRecord(spec), time.Now().UTC()
	}
	return commitAdopted(ctx, s, fingerprint, list)
}

// adoptedNames are the splits in their order.
func adoptedNames() []Name { return []Name{Train, Val, Test} }

// checkPlaces refuses splits that are unknown or share files.
func checkPlaces(splits map[Name]Place) error {
	var seen []string
	for _, name := range adoptedNames() {
		place, ok := splits[name]
		if !ok && name == Train {
			return errors.New("a dataset needs a split train")
		}
		if !ok {
			continue
		}
		at := strings.TrimSuffix(place.Store.KeyURL(place.Dir), "/") + "/"
		for _, other := range seen {
			if strings.HasPrefix(at, other) || strings.HasPrefix(other, at) {
				return fmt.Errorf("splits overlap: %s and %s; each wants a directory of its own", store.RedactURL(strings.TrimSuffix(other, "/")), store.RedactURL(strings.TrimSuffix(at, "/")))
			}
		}
		seen = append(seen, at)
	}
	if len(seen) < len(splits) {
		return fmt.Errorf("splits are %v", adoptedNames())
	}
	return nil
}

// adoptedSpec is what a dataset that was adopted is made of. Which source is which split is an
// option, unless train is the only one.
func adoptedSpec(list []*adoption, opts *AdoptOptions) Spec {
	spec := Spec{Options: map[string]string{"adopted": "1"}}
	if opts.ReadData {
		spec.Options["adopted.by"] = "sha256"
	}
	for i, a := range list {
		spec.Sources = append(spec.Sources, a.source)
		if i > 0 {
			spec.Options["adopted."+string(a.name)] = a.source.URI
		}
	}
	return spec
}

// staged is the dataset of s of which a single directory is a split, nil if it is none.
// Several are refused then, since they would be pruned from under the new one.
func staged(ctx context.Context, s *store.Store, splits map[Name]Place) (*Dataset, error) {
	for _, name := range adoptedNames() {
		place, ok := splits[name]
		if !ok {
			continue
		}
		d, err := stagedAt(ctx, s, place.Store, place.Dir)
		if err != nil || d != nil && len(splits) == 1 {
			return d, err
		}
		if d != nil {
			return nil, failure("adopt dataset", place.Dir, store.ErrInvalid,
				fmt.Errorf("it belongs to dataset %.12s of this store; give that a name, by one of its directories alone", d.Commit.Fingerprint))
		}
	}
	return nil, nil
}

// stagedAt is the dataset of s whose files lie in dir, nil if there is none.
func stagedAt(ctx context.Context, s, at *store.Store, dir store.Key) (*Dataset, error) {
	body, err := at.Get(ctx, dir.Join(ManifestName))
	if err != nil {
		return nil, nil // which says that it is none of ours; what else is wrong shows itself
	}
	var m Manifest
	if err := decode("read manifest", dir.Join(ManifestName), body, &m); err != nil {
		return nil, err
	}
	d, err := find(ctx, s, m.Fingerprint)
	if err != nil && !errors.Is(err, store.ErrNotExist) {
		return nil, err
	}
	if err == nil && s.KeyURL(d.Commit.Splits[m.Split].Dir) == at.KeyURL(dir) {
		return d, nil
	}
	return nil, nil
}

// commitAdopted writes the manifests, which lie with us, and then the commit. Who
// adopts the same at once writes the same.
func commitAdopted(ctx context.Context, s *store.Store, fingerprint store.Digest, list []*adoption) (*Dataset, bool, error) {
	generation, err := nextGeneration(ctx, s, fingerprint)
	if err != nil {
		return nil, false, err
	}
	d := &Dataset{Commit: Commit{
		Version: formatVersion, Fingerprint: fingerprint, Index: -1, Created: list[0].manifest.Created, Generation: generation,
		Splits: make(map[Name]CommitSplit),
	}}
	dir := s.Layout().Heirloom().Join("datasets", "adopted", string(fingerprint))
	for _, a := range list {
		if a.name != Train {
			dir = d.Commit.Splits[Train].Dir.Join(string(a.name)) // so that all are deleted with it
		}
		if d.Commit.Splits[a.name], err = a.commit(ctx, s, dir); err != nil {
			return nil, false, err
		}
	}
	body, err := encode(d.Commit)
	if err != nil {
		return nil, false, err
	}
	err = s.Create(ctx, d.Commit.key(s.Layout()), body)
	if errors.Is(err, store.ErrExist) {
		d, err = find(ctx, s, fingerprint)
		return d, err == nil, err
	}
	return d, false, err
}

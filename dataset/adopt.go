package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Adopt makes a dataset of Parquet that lies in dir of the store at, flat or in
// Hive's partitions, and records it in s. Nothing is copied or written there:
// the files are described by their footers, and known by names, sizes and what
// their store calls their versions, not by their bytes. It has one split, train.
// hit says that this very content was adopted before, or was staged in s.
//
// Errors have kind store.ErrNotExist if there are no data, store.ErrInvalid for a
// file or for files of different columns, store.ErrUnsupported for the tables of
// Delta and Iceberg, of which some files may not count, store.ErrConflict if
// somebody writes there, and store.ErrCorrupt for what is no Parquet or was never
// finished.
func Adopt(ctx context.Context, s, at *store.Store, dir store.Key) (d *Dataset, hit bool, err error) {
	if d, err := stagedAt(ctx, s, at, dir); d != nil || err != nil {
		return d, d != nil, err
	}
	before, err := list(ctx, at, dir)
	if err == nil {
		err = before.adoptable()
	}
	if err != nil {
		return nil, false, err
	}
	spec, err := before.spec(at)
	if err != nil {
		return nil, false, err
	}
	fingerprint, err := spec.Fingerprint()
	if err != nil {
		return nil, false, err
	}
	d, err = find(ctx, s, fingerprint)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return d, err == nil, err
	}
	r, err := Open(ctx, at, dir)
	if err != nil {
		return nil, false, err
	}
	after, err := list(ctx, at, dir)
	if err != nil {
		return nil, false, err
	}
	if !slices.EqualFunc(before.data, after.data, sameObject) {
		return nil, false, failure("adopt dataset", dir, store.ErrConflict, errors.New("somebody writes there; adopt it when they have ended"))
	}
	m := r.described()
	m.Version, m.Fingerprint, m.Split, m.Index, m.Spec = formatVersion, fingerprint, Train, -1, specRecord(spec)
	return commitAdopted(ctx, s, m, spec.Sources[0].URI)
}

// adoptable refuses what is no plain directory of Parquet.
func (f *found) adoptable() error {
	if f.single {
		return failure("adopt dataset", f.dir, store.ErrInvalid, errors.New("it is a file; a dataset is a directory"))
	}
	return f.finished()
}

// spec identifies what lies in the directory without reading it.
func (f *found) spec(at *store.Store) (Spec, error) {
	uri, err := store.CanonicalURI(at.KeyURL(f.dir), "")
	if err != nil {
		return Spec{}, err
	}
	var listing []byte
	for _, object := range f.data {
		for _, field := range []string{f.name(object), fmt.Sprint(object.Size), object.Version} {
			listing = netstring(listing, field)
		}
	}
	return Spec{Sources: []Source{{URI: uri, Digest: digest(listing)}}, Options: map[string]string{"adopted": "1"}}, nil
}

func sameObject(a, b store.Object) bool {
	return a.Key == b.Key && a.Size == b.Size && a.Version == b.Version && a.Modified.Equal(b.Modified)
}

// described is the manifest of what was read of footers. Its schema is that of
// the table, with the columns that partitions hold.
func (r *Reader) described() *Manifest {
	m := &Manifest{Schema: r.Fields(), Rows: r.rows}
	for i, file := range r.files {
		file.Version = r.versions[i]
		m.Files = append(m.Files, file)
		m.Bytes += file.Bytes
	}
	return m
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

// commitAdopted writes the manifest, which lies with us, and then the commit. Who
// adopts the same at once writes the same.
func commitAdopted(ctx context.Context, s *store.Store, m *Manifest, url string) (*Dataset, bool, error) {
	m.Created = time.Now().UTC()
	dir := s.Layout().Heirloom().Join("datasets", "adopted", string(m.Fingerprint))
	generation, err := nextGeneration(ctx, s, m.Fingerprint)
	if err != nil {
		return nil, false, err
	}
	body, err := encode(m)
	if err != nil {
		return nil, false, err
	}
	if err := s.Create(ctx, dir.Join(ManifestName), body); err != nil && !errors.Is(err, store.ErrExist) {
		return nil, false, err
	}
	if body, err = s.Get(ctx, dir.Join(ManifestName)); err != nil { // the first one stands
		return nil, false, err
	}
	d := &Dataset{Commit: Commit{
		Version: formatVersion, Fingerprint: m.Fingerprint, Index: -1, Created: m.Created, Generation: generation,
		Splits: map[Name]CommitSplit{Train: {
			Dir: dir, URL: url, Rows: m.Rows, Bytes: m.Bytes, Files: len(m.Files),
			ManifestSHA256: digest(body), ManifestBytes: int64(len(body)),
		}},
	}}
	commit, err := encode(d.Commit)
	if err != nil {
		return nil, false, err
	}
	err = s.Create(ctx, d.Commit.key(s.Layout()), commit)
	if errors.Is(err, store.ErrExist) {
		d, err = find(ctx, s, m.Fingerprint)
		return d, err == nil, err
	}
	return d, false, err
}

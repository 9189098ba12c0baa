package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heirloom-ml/heirloom/store"
)

// adoption is one split that is adopted.
type adoption struct {
	Place
	name     Name
	files    []store.Object
	sums     []store.Digest // of files; nil: they were not read
	source   Source
	manifest *Manifest
	reader   *Reader
}

// look identifies what lies there, without reading it unless that is asked for.
func (a *adoption) look(ctx context.Context, opts *AdoptOptions) error {
	f, err := list(ctx, a.Store, a.Dir)
	if err == nil {
		err = f.adoptable()
	}
	if err != nil {
		return err
	}
	a.files = f.data
	if a.source.URI, err = store.CanonicalURI(a.Store.KeyURL(a.Dir), ""); err != nil {
		return err
	}
	var listing []byte
	for _, object := range f.data {
		identity := object.Version
		if opts.ReadData {
			sum, err := digestOf(ctx, a.Store, object.Key)
			if err != nil {
				return err
			}
			a.sums, identity = append(a.sums, sum), string(sum)
		}
		for _, field := range []string{f.name(object), fmt.Sprint(object.Size), identity} {
			listing = netstring(listing, field)
		}
	}
	a.source.Digest = digest(listing)
	return nil
}

// adoptable refuses what is no plain directory of Parquet.
func (f *found) adoptable() error {
	if f.single {
		return failure("adopt dataset", f.dir, store.ErrInvalid, errors.New("it is a file; a dataset is a directory"))
	}
	if f.stray != "" && f.foreign == "" && f.unfinished() == "" {
		return failure("adopt dataset", f.dir, store.ErrUnsupported, fmt.Errorf(
			"%s lies in a directory that is no partition of the form name=value; add each directory by itself, those of splits with --val and --test", f.stray))
	}
	return f.finished()
}

// describe reads footers, or all data where their checksums are known, and looks whether
// everything stayed as it was. The columns must be those of the first split.
func (a *adoption) describe(ctx context.Context, first *adoption) (err error) {
	if a.reader, err = Open(ctx, a.Store, a.Dir); err != nil {
		return err
	}
	if !sameFields(first.reader.schema, a.reader.schema) {
		return failure("adopt dataset", a.Dir, store.ErrInvalid,
			fmt.Errorf("its columns are other than those of %s: %s", first.name, differ(first.reader.schema, a.reader.schema)))
	}
	if a.sums != nil {
		if err := a.reader.readEverything(ctx); err != nil {
			return err
		}
	}
	after, err := list(ctx, a.Store, a.Dir)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(a.files, after.data, sameObject) {
		return failure("adopt dataset", a.Dir, store.ErrConflict, errors.New("somebody writes there; adopt it when they have ended"))
	}
	a.manifest = a.reader.described()
	for i, sum := range a.sums {
		a.manifest.Files[i].SHA256 = sum
	}
	return nil
}

// readEverything decodes every page of every file.
func (r *Reader) readEverything(ctx context.Context) error {
	for i := range r.files {
		p, err := r.part(ctx, i)
		if err != nil {
			return err
		}
		if err := p.readAll(ctx, ""); err != nil {
			return err
		}
	}
	return nil
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

// commit writes the manifest of one split, in dir; the first one that was written stands.
func (a *adoption) commit(ctx context.Context, s *store.Store, dir store.Key) (CommitSplit, error) {
	body, err := encode(a.manifest)
	if err != nil {
		return CommitSplit{}, err
	}
	if err := s.Create(ctx, dir.Join(ManifestName), body); err != nil && !errors.Is(err, store.ErrExist) {
		return CommitSplit{}, err
	}
	if body, err = s.Get(ctx, dir.Join(ManifestName)); err != nil {
		return CommitSplit{}, err
	}
	return CommitSplit{
		Dir: dir, URL: a.source.URI, Rows: a.manifest.Rows, Bytes: a.manifest.Bytes, Files: len(a.manifest.Files),
		ManifestSHA256: digest(body), ManifestBytes: int64(len(body)),
	}, nil
}

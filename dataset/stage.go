package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// Dataset is one that is committed: whole, and never changed again.
type Dataset struct {
	Commit    Commit
	Manifests map[Name]*Manifest // one for each split of the commit
}

// Stage returns the dataset that spec describes, and whether someone else had
// made it. If nobody has, produce writes its rows, which become visible all at
// once when it returns nil; the rows must follow from spec alone.
//
// Of several that stage the same spec at once each may call produce, under an
// index of its own, and one commits; the others return what that one made, as a
// hit, and leave their own files behind, without a commit. So does whoever
// fails or dies. Such files are never read and are left to be reclaimed.
//
// Errors have kind store.ErrInvalid for a bad spec or a split without rows, and
// store.ErrCorrupt if the dataset is committed but its files are gone or are not
// those that were committed.
func Stage(ctx context.Context, s *store.Store, spec Spec, produce func(ctx context.Context, w *Writer) error) (d *Dataset, hit bool, err error) {
	fingerprint, err := spec.Fingerprint()
	if err != nil {
		return nil, false, err
	}
	d, err = find(ctx, s, fingerprint)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return d, err == nil, err
	}
	claim, err := claimIndex(ctx, s, fingerprint)
	if err != nil {
		return nil, false, fmt.Errorf("claim an index: %w", err)
	}
	w, err := newWriter(s, spec, claim)
	if err != nil {
		return nil, false, err
	}
	defer w.abort()
	if err := produce(ctx, w); err != nil {
		return nil, false, err
	}
	if err := w.finish(ctx); err != nil {
		return nil, false, err
	}
	return w.commit(ctx)
}

// find reads the commit of a dataset and the manifests that it pins. The error
// has kind store.ErrNotExist only if there is no commit.
func find(ctx context.Context, s *store.Store, fingerprint store.Digest) (*Dataset, error) {
	key := commitKey(s.Layout(), fingerprint)
	body, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Manifests: make(map[Name]*Manifest)}
	if err := decode("read commit", key, body, &d.Commit); err != nil {
		return nil, err
	}
	if d.Commit.Fingerprint != fingerprint {
		return nil, failure("read commit", key, store.ErrCorrupt, fmt.Errorf("it is the commit of %s", d.Commit.Fingerprint))
	}
	for name, split := range d.Commit.Splits {
		if d.Manifests[name], err = pinned(ctx, s, split); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// pinned reads the manifest of a split of a commit.
func pinned(ctx context.Context, s *store.Store, split CommitSplit) (*Manifest, error) {
	key := split.Dir.Join(ManifestName)
	body, err := s.Get(ctx, key)
	if errors.Is(err, store.ErrNotExist) {
		return nil, failure("read manifest", key, store.ErrCorrupt, errors.New("the dataset is committed, but its manifest is gone"))
	}
	if err != nil {
		return nil, err
	}
	if digest(body) != split.ManifestSHA256 {
		return nil, failure("read manifest", key, store.ErrCorrupt, errors.New("it is not the manifest that was committed"))
	}
	m := new(Manifest)
	return m, decode("read manifest", key, body, m)
}

// commit writes the manifests, then the markers, then the commit. If another
// dataset of the same fingerprint was committed meanwhile, that is returned.
func (w *Writer) commit(ctx context.Context) (*Dataset, bool, error) {
	created := time.Now().UTC()
	d := &Dataset{Manifests: make(map[Name]*Manifest), Commit: Commit{
		Version: formatVersion, Fingerprint: w.claim.Fingerprint, Index: w.claim.Index, Epoch: w.claim.Epoch,
		Created: created, Splits: make(map[Name]CommitSplit),
	}}
	for _, name := range w.spec.Split.names() {
		split := w.splits[name]
		m := w.manifest(name, split, created)
		sum, err := w.publish(ctx, split.dir, m)
		if err != nil {
			return nil, false, err
		}
		d.Manifests[name] = m
		d.Commit.Splits[name] = CommitSplit{
			Dir: split.dir, Rows: m.Rows, Bytes: m.Bytes, Files: len(m.Files), ManifestSHA256: sum,
		}
	}
	body, err := encode(d.Commit)
	if err != nil {
		return nil, false, err
	}
	err = w.store.Create(ctx, commitKey(w.store.Layout(), w.claim.Fingerprint), body)
	if errors.Is(err, store.ErrExist) {
		winner, err := find(ctx, w.store, w.claim.Fingerprint)
		return winner, err == nil, err
	}
	if err != nil {
		return nil, false, err
	}
	return d, false, nil
}

// publish writes a manifest and the marker that Spark's readers know.
func (w *Writer) publish(ctx context.Context, dir store.Key, m *Manifest) (store.Digest, error) {
	body, err := encode(m)
	if err != nil {
		return "", err
	}
	if err := w.store.Create(ctx, dir.Join(ManifestName), body); err != nil {
		return "", err
	}
	return digest(body), w.store.Create(ctx, dir.Join(SuccessName), nil)
}

func (w *Writer) manifest(name Name, split *splitWriter, created time.Time) *Manifest {
	m := &Manifest{
		Version: formatVersion, Fingerprint: w.claim.Fingerprint, Split: name, Index: w.claim.Index, Epoch: w.claim.Epoch,
		Created: created, Spec: specRecord(w.spec), Rows: split.rows, Files: split.files,
	}
	for _, field := range split.shapes.describe(fields(w.schema)) {
		if w.stored.HasField(field.Name) {
			m.Schema = append(m.Schema, field)
		} else {
			m.Partition = append(m.Partition, field)
		}
	}
	for _, file := range split.files {
		m.Bytes += file.Bytes
	}
	return m
}

func digest(body []byte) store.Digest {
	sum := sha256.Sum256(body)
	return store.Digest(hex.EncodeToString(sum[:]))
}

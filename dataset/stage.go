package dataset

import (
	"cmp"
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

// Stager says how to stage. The zero value is ready to be used.
type Stager struct {
	// Lease is how long a producer may give no sign of life before another takes
	// its place; 0 is one minute. Who waits goes by the producer's own.
	Lease time.Duration
	// Waiting is called at every look at another's lease; nil is not at all.
	Waiting func(Waiting)
	// Maker is the run that stages, for the commit to name; nil is none.
	Maker *Maker
}

// Stage stages as the zero Stager does.
func Stage(ctx context.Context, s *store.Store, spec Spec, produce Produce) (d *Dataset, hit bool, err error) {
	return Stager{}.Stage(ctx, s, spec, produce)
}

// Stage returns the dataset that spec describes, and whether someone else had
// made it. If nobody has, of all that stage it at once one takes the lease and
// calls produce; the rows become visible all at once when it returns nil. The
// others wait for that, until ctx ends, and return it as a hit.
//
// If a producer dies, or gives no sign of life for as long as its lease lasts,
// one of the others takes its place, under an index of its own. What comes back
// to life then loses: the first to commit has made the dataset. What a producer
// wrote that failed or lost it deletes; of one that died it stays until it is
// reclaimed, and nobody is ever given its path.
//
// Errors have kind store.ErrInvalid for a bad spec or a split without rows, and
// store.ErrCorrupt if the dataset is committed but its files are gone or are not
// those that were committed. Those of produce are returned as they are; then
// each of the others tries for itself.
func (o Stager) Stage(ctx context.Context, s *store.Store, spec Spec, produce Produce) (d *Dataset, hit bool, err error) {
	fingerprint, err := spec.Fingerprint()
	if err != nil {
		return nil, false, err
	}
	d, err = find(ctx, s, fingerprint)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return d, err == nil, err
	}
	lease, err := o.acquire(ctx, s, fingerprint)
	if err != nil {
		return nil, false, err
	}
	if lease == nil {
		d, err = find(ctx, s, fingerprint)
		return d, err == nil, err
	}
	err = lease.hold(ctx, s, func(ctx context.Context) (err error) {
		d, hit, err = o.make(ctx, s, lease, spec, produce)
		return err
	})
	return d, hit, err
}

// acquire takes the lease, or returns nil if the dataset is committed.
func (o Stager) acquire(ctx context.Context, s *store.Store, fingerprint store.Digest) (*Lease, error) {
	seen := &watch{store: s, fingerprint: fingerprint}
	for n := 0; ; n++ {
		if err := seen.look(ctx); err != nil {
			return nil, fmt.Errorf("look for who makes the dataset: %w", err)
		}
		if seen.free() {
			lease, err := newLease(ctx, s, fingerprint, seen.number+1, cmp.Or(o.Lease, defaultLease))
			if err == nil || !errors.Is(err, store.ErrExist) {
				return lease, err
			}
			continue
		}
		if o.Waiting != nil {
			o.Waiting(seen.waiting())
		}
		if err := seen.pause(ctx, n); err != nil {
			return nil, fmt.Errorf("wait for the dataset: %w", err)
		}
		switch _, err := s.Stat(ctx, commitKey(s.Layout(), fingerprint)); {
		case err == nil:
			return nil, nil
		case !errors.Is(err, store.ErrNotExist):
			return nil, err
		}
	}
}

// make makes the dataset under an index of its own, unless who held the lease
// before has committed it just before that ended.
func (o Stager) make(ctx context.Context, s *store.Store, lease *Lease, spec Spec, produce Produce) (*Dataset, bool, error) {
	d, err := find(ctx, s, lease.Fingerprint)
	if err == nil || !errors.Is(err, store.ErrNotExist) {
		return d, err == nil, err
	}
	claim, err := claimIndex(ctx, s, lease)
	if err != nil {
		return nil, false, fmt.Errorf("claim an index: %w", err)
	}
	w, err := newWriter(s, spec, claim)
	if err != nil {
		return nil, false, err
	}
	if err := w.produce(ctx, produce); err != nil {
		claim.abandon(ctx, s)
		return nil, false, err
	}
	return w.commit(ctx, o.Maker)
}

// produce has the rows written, and ends the files in any case.
func (w *Writer) produce(ctx context.Context, produce Produce) error {
	defer w.abort()
	if err := produce(ctx, w); err != nil {
		return err
	}
	return w.finish(ctx)
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

// commit writes the manifests, then the markers, then seals the index, then
// writes the commit. If another dataset of the same fingerprint was committed
// meanwhile, that is returned.
func (w *Writer) commit(ctx context.Context, maker *Maker) (*Dataset, bool, error) {
	d, err := w.publish(ctx)
	if err != nil {
		w.claim.abandon(ctx, w.store)
		return nil, false, err
	}
	d.Commit.Maker = maker
	body, err := encode(d.Commit)
	if err != nil {
		return nil, false, err
	}
	if err := w.claim.seal(ctx, w.store, &d.Commit); err != nil {
		return w.lost(ctx, err)
	}
	err = w.store.Create(ctx, commitKey(w.store.Layout(), w.claim.Fingerprint), body)
	if errors.Is(err, store.ErrExist) {
		return w.lost(ctx, err)
	}
	return d, false, err
}

// lost returns what another made, if it did, and deletes what we wrote, as far as
// it may; prune does the rest. cause is why ours cannot be committed any more.
func (w *Writer) lost(ctx context.Context, cause error) (*Dataset, bool, error) {
	winner, err := find(ctx, w.store, w.claim.Fingerprint)
	if errors.Is(err, store.ErrNotExist) {
		return nil, false, cause
	}
	if err == nil && winner.Commit.Index != w.claim.Index {
		_, _ = w.claim.discard(ctx, w.store)
	}
	return winner, err == nil, err
}

// publish writes the manifest of each split, and the marker that Spark's readers
// know.
func (w *Writer) publish(ctx context.Context) (*Dataset, error) {
	created := time.Now().UTC()
	d := &Dataset{Manifests: make(map[Name]*Manifest), Commit: Commit{
		Version: formatVersion, Fingerprint: w.claim.Fingerprint, Index: w.claim.Index, Epoch: w.claim.Epoch,
		Created: created, Splits: make(map[Name]CommitSplit),
	}}
	for _, name := range w.spec.Split.names() {
		split := w.splits[name]
		m := w.manifest(name, split, created)
		body, err := encode(m)
		if err != nil {
			return nil, err
		}
		if err := w.store.Create(ctx, split.dir.Join(ManifestName), body); err != nil {
			return nil, err
		}
		if err := w.store.Put(ctx, split.dir.Join(SuccessName), nil); err != nil {
			return nil, err
		}
		d.Manifests[name] = m
		d.Commit.Splits[name] = CommitSplit{
			Dir: split.dir, Rows: m.Rows, Bytes: m.Bytes, Files: len(m.Files), ManifestSHA256: digest(body),
		}
	}
	return d, nil
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

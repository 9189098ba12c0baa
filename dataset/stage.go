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
	Commit Commit
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
// A dataset that is there takes two requests, whatever its size and the number of
// its splits: its commit, and a look whether its first split is still in place.
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
	lease, d, err := o.acquire(ctx, s, fingerprint)
	if err != nil || d != nil {
		return d, err == nil, err
	}
	err = lease.hold(ctx, s, func(ctx context.Context) (err error) {
		d, hit, err = o.make(ctx, s, lease, spec, produce)
		return err
	})
	return d, hit, err
}

// acquire takes the lease, or returns the dataset if it is committed meanwhile.
func (o Stager) acquire(ctx context.Context, s *store.Store, fingerprint store.Digest) (*Lease, *Dataset, error) {
	seen := &watch{store: s, fingerprint: fingerprint}
	for n := 0; ; n++ {
		if err := seen.look(ctx); err != nil {
			return nil, nil, fmt.Errorf("look for who makes the dataset: %w", err)
		}
		if seen.free() {
			lease, err := newLease(ctx, s, fingerprint, seen.number+1, cmp.Or(o.Lease, defaultLease))
			if err == nil || !errors.Is(err, store.ErrExist) {
				return lease, nil, err
			}
			continue
		}
		if o.Waiting != nil {
			o.Waiting(seen.waiting())
		}
		if err := seen.pause(ctx, n); err != nil {
			return nil, nil, fmt.Errorf("wait for the dataset: %w", err)
		}
		if d, err := find(ctx, s, fingerprint); !errors.Is(err, store.ErrNotExist) {
			return nil, d, err
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
	err = w.store.Create(ctx, d.Commit.key(w.store.Layout()), body)
	if errors.Is(err, store.ErrExist) {
		return w.lost(ctx, failure("commit dataset", d.Commit.key(w.store.Layout()), store.ErrConflict,
			errors.New("another was committed in its place, and pruned since; stage it again")))
	}
	return d, false, err
}

// lost returns what another made, if it did, and deletes what we wrote, as far as
// it may; prune does the rest. cause is why ours cannot be committed any more: it
// stands where what the other made was pruned since.
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
	d := &Dataset{Commit: Commit{
		Version: formatVersion, Fingerprint: w.claim.Fingerprint, Index: w.claim.Index, Epoch: w.claim.Epoch,
		Created: created, Generation: w.claim.Generation, Splits: make(map[Name]CommitSplit),
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
		d.Commit.Splits[name] = CommitSplit{
			Dir: split.dir, Rows: m.Rows, Bytes: m.Bytes, Files: len(m.Files),
			ManifestSHA256: digest(body), ManifestBytes: int64(len(body)),
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

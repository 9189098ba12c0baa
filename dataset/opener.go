package dataset

import (
	"context"
	"errors"

	"github.com/heirloom-ml/heirloom/store"
)

// Opener says how to open. The zero value does as Open does.
type Opener struct {
	// Run is the run that is to read, as tracker.FromEnviron knows it; Open records
	// that it uses what is opened. Nil, or one outside of a launch, records nothing.
	Run Recorder
	// Ref is the name by which the dataset was found, for the record; the zero value
	// is none.
	Ref Ref
}

// Open opens as the function Open does, and then records the use: of a dataset of
// s as Dataset.RecordUse does, of what else lies there as an input by its URL and
// version. It takes one to three requests more, and those of the tracker, whose
// errors are returned.
func (o Opener) Open(ctx context.Context, s *store.Store, dir store.Key) (*Reader, error) {
	r, err := Open(ctx, s, dir)
	if err != nil || o.Run == nil {
		return r, err
	}
	return r, o.record(ctx, r)
}

func (o Opener) record(ctx context.Context, r *Reader) error {
	d, err := r.dataset(ctx)
	if err != nil {
		return err
	}
	if d != nil {
		return d.RecordUse(ctx, r.store, o.Run, o.Ref)
	}
	source, err := Identify(ctx, r.store, r.dir, false)
	if err != nil {
		return err
	}
	input, err := source.input()
	if err != nil {
		return err
	}
	return o.Run.AddSource(ctx, input)
}

// dataset is the one of which the directory is a split, nil if it is none.
func (r *Reader) dataset(ctx context.Context) (*Dataset, error) {
	if r.manifest == nil {
		return nil, nil
	}
	c, err := readCommit(ctx, r.store, r.manifest.Fingerprint)
	if errors.Is(err, store.ErrNotExist) || err == nil && c.Splits[r.manifest.Split].Dir != r.dir {
		return nil, nil // it was copied here
	}
	return &Dataset{Commit: c}, err
}

package index

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fillBatch is how many runs are put into the index at once.
const fillBatch = 2048

// errKnown ends a filling: another process has refreshed the index meanwhile.
var errKnown = errors.New("the index is known")

// Fill puts the entries of another index of the same root into one that was never refreshed, and then takes over its
// settings: from then on the index is as old as the other one, and a refresh reads only what changed since. Runs that
// the index has already stay as they are. Where another process refreshes the index meanwhile, Fill ends and leaves the
// index to it. It returns how many runs it put. When it fails, what it put stays, and the index still counts as never
// refreshed. Only Run.ID, Print, Settled, Body and Sources of an entry count; those that make no sense are
// store.ErrCorrupt.
func (x *Index) Fill(ctx context.Context, settings map[string]int64, entries iter.Seq2[Entry, error]) (int, error) {
	f := &filling{Index: x}
	err := f.all(ctx, settings, entries)
	if err == nil || errors.Is(err, errKnown) {
		err = x.ensureIndexes(ctx)
	}
	if err != nil {
		return f.filled, fmt.Errorf("fill index: %w", err)
	}
	return f.filled, nil
}

// filling is one call of Fill.
type filling struct {
	*Index
	pending []Entry
	filled  int
}

func (f *filling) all(ctx context.Context, settings map[string]int64, entries iter.Seq2[Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		f.pending = append(f.pending, e)
		if len(f.pending) < fillBatch {
			continue
		}
		if err := f.write(ctx, func(w *writer) error { return f.put(ctx, w) }); err != nil {
			return err
		}
		f.pending = f.pending[:0]
	}
	return f.write(ctx, func(w *writer) error {
		if err := f.put(ctx, w); err != nil {
			return err
		}
		for name, value := range settings {
			if err := w.set(ctx, name, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// put puts what is pending into an index that is still not known.
func (f *filling) put(ctx context.Context, w *writer) error {
	var known int
	if err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM setting WHERE name = ?", refreshedSetting).Scan(&known); err != nil {
		return err
	}
	if known > 0 {
		return errKnown
	}
	for _, e := range f.pending {
		there, err := f.doubt(ctx, w, e)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		if err := f.putOne(ctx, w, e); err != nil {
			return err
		}
		f.filled++
	}
	if f.opts.Progress != nil {
		f.opts.Progress(f.filled, 0)
	}
	return nil
}

// doubt reports whether the index has the run of an entry, left there by a refresh that did not end. If it is another
// state of it, the next refresh reads the run again: it may be younger or older.
func (f *filling) doubt(ctx context.Context, w *writer, e Entry) (there bool, err error) {
	stmt, err := w.prepared(ctx, "UPDATE run SET settled = settled AND print = ? WHERE dir = ?")
	if err != nil {
		return false, err
	}
	done, err := stmt.ExecContext(ctx, e.Print[:], e.Run.ID.Encode())
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

func (f *filling) putOne(ctx context.Context, w *writer, e Entry) error {
	id, err := tracker.ParseRunID(string(e.Run.ID))
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	run := &tracker.Run{ID: id}
	if err := decode(run, []byte(e.Body), f.opts.Now()); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	if run.Sources, err = decodeSources(e.Sources); err != nil {
		return err
	}
	return w.put(ctx, run, e.Print, e.Settled)
}

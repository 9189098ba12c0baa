package index

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fillBatch is how many runs are put into the index at once.
const fillBatch = 1024

// errOthers ends a filling: another process has refreshed the index meanwhile, or fills it.
var errOthers = errors.New("another process is ahead")

// Fill puts the entries of another index of the same root into one that was never refreshed, and then takes over its
// settings: from then on the index is as old as the other one, and a refresh reads only what changed since. What an
// earlier filling or refresh left that did not end is forgotten first: of that nothing tells whether it is there still.
// Of several processes that fill or refresh one index at once one does, and the others wait for it: an index that is
// known by then is left as it is. Fill returns how many runs it put. When it fails, the index still counts as never
// refreshed. Only Run.ID, Print, Settled, Body and Sources of an entry count; those that make no sense are
// store.ErrCorrupt.
func (x *Index) Fill(ctx context.Context, settings map[string]int64, entries iter.Seq2[Entry, error]) (int, error) {
	unlock, err := x.lock(ctx)
	if err != nil {
		return 0, fmt.Errorf("fill index: %w", err)
	}
	defer unlock()
	asOf, err := x.AsOf(ctx)
	if err == nil && !asOf.IsZero() {
		return 0, nil
	}
	f := &filling{}
	if err == nil {
		err = f.fill(ctx, x, settings, entries)
	}
	if err != nil && !errors.Is(err, errOthers) {
		return f.filled, fmt.Errorf("fill index: %w", err)
	}
	return f.filled, nil
}

// filling is one call of Fill.
type filling struct {
	*Index
	mine   int64 // what fillingSetting says as long as nobody else fills the index
	filled int
}

func (f *filling) fill(ctx context.Context, x *Index, settings map[string]int64, entries iter.Seq2[Entry, error]) error {
	l, done, err := x.loader(ctx)
	if err != nil {
		return err
	}
	defer done()
	f.Index = l
	if err := f.begin(ctx); err != nil {
		return err
	}
	if err := f.all(ctx, entries); err != nil {
		return err
	}
	if err := f.end(ctx, settings); err != nil {
		return err
	}
	return f.ensureIndexes(ctx)
}

// begin empties the index and claims it: where there can be no lock, others may do the same.
func (f *filling) begin(ctx context.Context) error {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	f.mine = int64(binary.NativeEndian.Uint64(random[:]))
	return f.write(ctx, func(w *writer) error {
		if err := f.unknown(ctx, w); err != nil {
			return err
		}
		for _, table := range []string{"link", "artifact", "meta", "record", "run", "node", "seen"} {
			if err := w.exec(ctx, "DELETE FROM "+table); err != nil {
				return err
			}
		}
		return w.set(ctx, fillingSetting, f.mine)
	})
}

// unknown sees that nobody has refreshed the index yet.
func (f *filling) unknown(ctx context.Context, w *writer) error {
	var known int
	if err := w.tx.QueryRowContext(ctx, "SELECT count(*) FROM setting WHERE name = ?", refreshedSetting).Scan(&known); err != nil {
		return err
	}
	if known > 0 {
		return errOthers
	}
	return nil
}

// still sees that the index is this filling's alone.
func (f *filling) still(ctx context.Context, w *writer) error {
	if err := f.unknown(ctx, w); err != nil {
		return err
	}
	var mine int64
	if err := w.tx.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", fillingSetting).Scan(&mine); err != nil {
		return err
	}
	if mine != f.mine {
		return errOthers
	}
	return nil
}

// all puts the entries. While those of one batch are written, the next are decoded.
func (f *filling) all(ctx context.Context, entries iter.Seq2[Entry, error]) error {
	group, putting := errgroup.WithContext(ctx)
	group.SetLimit(parallelBatches)
	var before chan struct{}
	put := func(batch []Entry) {
		after, last := make(chan struct{}), before
		before = after
		group.Go(func() error {
			defer close(after)
			return f.putAfter(putting, batch, last)
		})
	}
	var batch []Entry
	var failed error
	for e, err := range entries {
		if failed = errors.Join(err, putting.Err()); failed != nil {
			break
		}
		if batch = append(batch, e); len(batch) == fillBatch {
			put(batch)
			batch = nil
		}
	}
	if failed == nil && len(batch) > 0 {
		put(batch)
	}
	if err := group.Wait(); err != nil { // for which the entries were ended
		return err
	}
	return failed
}

// putAfter puts entries into the index once last is closed; nil = at once.
func (f *filling) putAfter(ctx context.Context, batch []Entry, last <-chan struct{}) error {
	rows := make([]row, len(batch))
	var err error
	for i, e := range batch {
		if rows[i], err = f.row(e); err != nil {
			return err
		}
	}
	if last != nil {
		<-last
	}
	err = f.write(ctx, func(w *writer) error {
		if err := f.still(ctx, w); err != nil {
			return err
		}
		for _, r := range rows {
			if err := w.put(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.filled += len(rows) // one batch after the other
	if f.opts.Progress != nil {
		f.opts.Progress(f.filled, 0)
	}
	return nil
}

// row is what is kept of an entry.
func (f *filling) row(e Entry) (row, error) {
	id, err := tracker.ParseRunID(string(e.Run.ID))
	if err != nil {
		return row{}, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	run := &tracker.Run{ID: id}
	if err := decode(run, []byte(e.Body), f.opts.Now()); err != nil {
		return row{}, fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	if run.Sources, err = decodeSources(e.Sources); err != nil {
		return row{}, err
	}
	short, err := brief(run)
	if err != nil {
		return row{}, err
	}
	return row{run: run, body: []byte(e.Body), brief: short, print: e.Print, settled: e.Settled}, nil
}

// end makes the index known.
func (f *filling) end(ctx context.Context, settings map[string]int64) error {
	return f.write(ctx, func(w *writer) error {
		if err := f.still(ctx, w); err != nil {
			return err
		}
		for name, value := range settings {
			if err := w.set(ctx, name, value); err != nil {
				return err
			}
		}
		return w.exec(ctx, "DELETE FROM setting WHERE name = ?", fillingSetting)
	})
}

package index

import (
	"context"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// batch is how many runs are read and written together.
const batch = 256

// uncertainty is how young an object may be for its version to be trusted: a clock may be coarse, and the listing of
// a store a moment older than what it lists.
const uncertainty = 5 * time.Second

// Refreshed says what a refresh did.
type Refreshed struct {
	Listed, Read, Removed int // runs
	Warnings              int // records that could not be read, in what was read
	Began, Ended          time.Time
}

// Refresh brings the index up to date with one listing of the whole root, and reads the runs that changed since.
// Nothing is read of the others. When it fails, what was read stays, and the index says that it is as old as it was.
func (x *Index) Refresh(ctx context.Context) (Refreshed, error) {
	r := &refresh{Index: x, done: Refreshed{Began: x.opts.Now()}}
	if err := r.run(ctx); err != nil {
		return r.done, fmt.Errorf("refresh index: %w", err)
	}
	return r.done, nil
}

// refresh is one pass over the root.
type refresh struct {
	*Index
	known   []knownRun // that the listing has not come to, by dir
	pending []*tracker.Survey
	gone    []int64
	done    Refreshed
}

// knownRun is a run as the index has it when a pass begins.
type knownRun struct {
	n       int64
	dir     string
	print   []byte
	settled bool
}

// run goes through the listing and the index side by side: both are in the order of the directories' names.
func (r *refresh) run(ctx context.Context) error {
	var err error
	if r.known, err = r.knownRuns(ctx); err != nil {
		return err
	}
	for s, err := range r.tracker.Surveys(ctx) {
		if err != nil {
			return err
		}
		if r.see(s) {
			r.pending = append(r.pending, s)
		}
		if len(r.pending) >= batch {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	for _, k := range r.known {
		r.gone = append(r.gone, k.n)
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

func (x *Index) knownRuns(ctx context.Context) ([]knownRun, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT n, dir, print, settled FROM run ORDER BY dir")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []knownRun
	for rows.Next() {
		var k knownRun
		if err := rows.Scan(&k.n, &k.dir, &k.print, &k.settled); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, rows.Err()
}

// see reports whether a run must be read. What the index knows before it in order is gone.
func (r *refresh) see(s *tracker.Survey) bool {
	r.done.Listed++
	dir := s.ID.Encode()
	for len(r.known) > 0 && r.known[0].dir < dir {
		r.gone = append(r.gone, r.known[0].n)
		r.known = r.known[1:]
	}
	if len(r.known) == 0 || r.known[0].dir != dir {
		return true
	}
	k := r.known[0]
	r.known = r.known[1:]
	return !k.settled || string(k.print) != string(s.Print[:])
}

// flush reads the runs that changed and writes them.
func (r *refresh) flush(ctx context.Context) error {
	runs, err := r.tracker.ReadSurveyed(ctx, r.pending)
	if err != nil {
		return err
	}
	err = r.write(ctx, func(w *writer) error {
		for i, run := range runs {
			s := r.pending[i]
			settled := r.done.Began.Sub(s.Newest) > uncertainty && len(run.Warnings) == 0
			if err := w.put(ctx, run, s.Print, settled); err != nil {
				return err
			}
			r.done.Warnings += len(run.Warnings)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.done.Read += len(runs)
	r.pending = nil
	if r.opts.Progress != nil {
		r.opts.Progress(r.done.Listed, r.done.Read)
	}
	return nil
}

// finish forgets the runs that are gone, and says that the index is as young as this pass.
func (r *refresh) finish(ctx context.Context) error {
	err := r.write(ctx, func(w *writer) error {
		for _, n := range r.gone {
			if err := w.remove(ctx, n); err != nil {
				return err
			}
		}
		return w.set(ctx, refreshedSetting, r.done.Began.UnixNano())
	})
	r.done.Removed, r.done.Ended = len(r.gone), r.opts.Now()
	return err
}

// write does all or nothing of what do writes. Others may read meanwhile.
func (x *Index) write(ctx context.Context, do func(*writer) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it has nothing to do
	if err := do(newWriter(tx)); err != nil {
		return err
	}
	return tx.Commit()
}

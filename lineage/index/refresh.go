package index

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/tracker"
)

// batch is how many runs are read and written together.
const batch = 256

// parallelBatches is how many batches are in memory at a time: one is written while others are read.
const parallelBatches = 3

// uncertainty is how young an object may be for its version to be trusted: a clock may be coarse, and the listing of
// a store a moment older than what it lists.
const uncertainty = 5 * time.Second

// Refreshed says what a refresh did. It is zero but for the times where another process had just done it.
type Refreshed struct {
	Whole                 bool // the whole root was listed
	Listed, Read, Removed int  // runs
	Warnings              int  // records that could not be read, in what was read
	Began, Ended          time.Time
}

// Refresh brings the index up to date with one listing of the whole root, and reads the runs that changed since.
// Nothing is read of the others. Where the root is large, and the store can begin a listing anywhere, parts of it are
// listed side by side. Of several processes one does it, and the others wait for that. When it fails, what was read
// stays, and the index says that it is as old as it was.
func (x *Index) Refresh(ctx context.Context) (Refreshed, error) {
	return x.alone(ctx, listedSetting, x.refreshWhole)
}

func (x *Index) refreshWhole(ctx context.Context) (Refreshed, error) {
	r, err := x.begin(ctx)
	if err != nil {
		return Refreshed{}, err
	}
	r.done.Whole = true
	known, err := x.knownRuns(ctx)
	if err != nil {
		return r.done, err
	}
	if len(known) == 0 { // it is filled first, and searched afterwards
		var done func()
		if r.Index, done, err = x.loader(ctx); err != nil {
			return r.done, err
		}
		defer done()
	} else if err := r.ensureIndexes(ctx); err != nil {
		return r.done, err
	}
	if err := r.list(ctx, r.parts(known)); err != nil {
		return r.done, err
	}
	if err := r.judge(ctx); err != nil {
		return r.done, err
	}
	return r.done, r.finish(ctx)
}

// list goes through the parts of the root side by side. While runs of one batch are written, those of the next are read,
// and the listings go on.
func (r *refresh) list(ctx context.Context, parts []*part) error {
	takers, taking := errgroup.WithContext(ctx)
	takers.SetLimit(parallelBatches)
	listings, listing := errgroup.WithContext(taking)
	for _, p := range parts {
		p.take = func(surveys []*tracker.Survey, before <-chan struct{}, after chan<- struct{}) {
			takers.Go(func() error {
				defer close(after)
				return r.takeAfter(taking, surveys, before)
			})
		}
		listings.Go(func() error { return p.run(listing) })
	}
	err := listings.Wait()
	if failed := takers.Wait(); failed != nil { // for which the listings were ended
		return failed
	}
	return err
}

// refresh is one pass over the root, or over some of its runs.
type refresh struct {
	*Index
	first bool  // the index holds nothing that a whole listing has told
	named bool  // the directories of the root were listed
	pause int64 // until a whole listing is due again, as it was when the pass began, in nanoseconds
	heard *heard

	writing sync.Mutex // held by who writes a batch

	mu        sync.Mutex // guards all below but done.Began
	gone      []int64
	newest    time.Time  // of all objects that were listed, by the backend's clock
	surprises []surprise // changes of which the journal did not tell
	done      Refreshed
}

// begin reads what the journal has to tell: what is written later will be told of in the next pass.
func (x *Index) begin(ctx context.Context) (*refresh, error) {
	r := &refresh{Index: x, done: Refreshed{Began: x.opts.Now()}}
	listed, err := x.moment(ctx, listedSetting)
	if err != nil {
		return nil, err
	}
	r.first = listed.IsZero()
	if r.pause, err = x.number(ctx, pauseSetting); err != nil {
		return nil, err
	}
	r.heard, err = x.listen(ctx, r.done.Began)
	return r, err
}

// knownRun is a run as the index has it when a pass begins.
type knownRun struct {
	n       int64
	dir     string
	print   []byte
	settled bool
	open    bool // it had not ended
}

func (x *Index) knownRuns(ctx context.Context) ([]knownRun, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT n, dir, print, settled, state = 'RUNNING' FROM run ORDER BY dir")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []knownRun
	for rows.Next() {
		var k knownRun
		if err := rows.Scan(&k.n, &k.dir, &k.print, &k.settled, &k.open); err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, rows.Err()
}

// saw counts a run that was surveyed.
func (r *refresh) saw(s *tracker.Survey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Listed++
	if s.Newest.After(r.newest) {
		r.newest = s.Newest
	}
}

// take reads the runs that changed and writes them.
func (r *refresh) take(ctx context.Context, surveys []*tracker.Survey) error {
	return r.takeAfter(ctx, surveys, nil)
}

// takeAfter reads the runs that changed, and writes them once before is closed; nil = at once.
func (r *refresh) takeAfter(ctx context.Context, surveys []*tracker.Survey, before <-chan struct{}) error {
	list, err := r.rows(ctx, surveys)
	if err != nil {
		return err
	}
	if before != nil {
		<-before
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	err = r.write(ctx, func(w *writer) error {
		for _, row := range list {
			if err := w.put(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.took(list, surveys)
	return nil
}

// rows reads runs that were surveyed.
func (r *refresh) rows(ctx context.Context, surveys []*tracker.Survey) ([]row, error) {
	runs, err := r.tracker.ReadSurveyed(ctx, surveys)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(runs))
	for i, run := range runs {
		s := surveys[i]
		settled := r.done.Began.Sub(s.Newest) > uncertainty && len(run.Warnings) == 0
		body, err := encode(run)
		if err != nil {
			return nil, err
		}
		short, err := brief(run)
		if err != nil {
			return nil, err
		}
		rows[i] = row{run: run, body: body, brief: short, print: s.Print, settled: settled}
	}
	return rows, nil
}

// took counts runs that were written.
func (r *refresh) took(rows []row, surveys []*tracker.Survey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, row := range rows {
		r.done.Warnings += len(row.run.Warnings)
		if r.first && len(row.run.Attempts) == 0 {
			r.surprises = append(r.surprises, surprise{row.run.ID, surveys[i].Newest})
		}
	}
	r.done.Read += len(rows)
	if r.opts.Progress != nil {
		r.opts.Progress(r.done.Listed, r.done.Read)
	}
}

// finish forgets the runs that are gone, and says that the index is as young as this pass.
func (r *refresh) finish(ctx context.Context) error {
	err := r.write(ctx, func(w *writer) error {
		for _, n := range r.gone {
			if err := w.remove(ctx, n); err != nil {
				return err
			}
		}
		return r.note(ctx, w)
	})
	if err == nil {
		err = r.ensureIndexes(ctx)
	}
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
	w := newWriter(tx)
	if err := do(w); err != nil {
		return err
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	return tx.Commit()
}

// alone is one refresh at a time for each file. Who had to wait for another's is content with that, if it began after
// he asked, as the setting tells.
func (x *Index) alone(ctx context.Context, setting string, do func(context.Context) (Refreshed, error)) (Refreshed, error) {
	asked := x.opts.Now()
	unlock, err := x.lock(ctx)
	if err != nil {
		return Refreshed{}, fmt.Errorf("refresh index: %w", err)
	}
	defer unlock()
	last, err := x.moment(ctx, setting)
	if err == nil && last.After(asked) && !last.After(x.opts.Now()) {
		return Refreshed{Began: last, Ended: x.opts.Now()}, nil
	}
	var done Refreshed
	if err == nil {
		done, err = do(ctx)
	}
	if err != nil {
		return done, fmt.Errorf("refresh index: %w", err)
	}
	return done, nil
}

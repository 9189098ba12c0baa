package removal

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// readsAtOnce is how many records are read side by side.
const readsAtOnce = 16

// found is a deletion as a listing tells of it.
type found struct {
	dir                     store.Key // of the run
	number                  int
	deleted                 store.Object
	noted, outcome, carried bool
}

// list finds the deletions below a directory of the ledger, by run and number.
func (l *Ledger) list(ctx context.Context, dir store.Key) ([]found, error) {
	var list []found
	for o, err := range l.s.List(ctx, string(dir)+"/") {
		if err != nil {
			return nil, fmt.Errorf("list deletions: %w", err)
		}
		at, ok := l.locate(o.Key)
		if !ok {
			continue
		}
		if n := len(list); n == 0 || list[n-1].dir != at.dir || list[n-1].number != at.number {
			list = append(list, found{dir: at.dir, number: at.number})
		}
		f := &list[len(list)-1]
		switch at.name {
		case deletedName:
			f.noted, f.deleted = true, o
		case outcomeName:
			f.outcome = true
		case doneName:
			f.carried = true
		}
	}
	return slices.DeleteFunc(list, func(f found) bool { return !f.noted }), nil
}

// read reads what the objects of a deletion say.
func (l *Ledger) read(ctx context.Context, f found) (Entry, error) {
	var d deletedRecord
	ok, err := l.load(ctx, f.deleted.Key, &d)
	if err != nil || !ok {
		return Entry{}, err
	}
	e := Entry{
		Run: d.Run, Number: f.number, Time: d.Time, User: d.User, Reason: d.Reason, Noted: f.deleted.Modified,
		Records: d.Records, Output: d.Output, Bytes: d.Bytes, Done: f.carried, print: d.Print,
	}
	if f.outcome {
		var o outcomeRecord
		if _, err = l.load(ctx, f.dir.Join(fmt.Sprintf("%06d", f.number), outcomeName), &o); err == nil {
			e.Outcome, e.Decided, e.By = o.Outcome, o.Time, o.User
		}
	}
	return e, err
}

func (l *Ledger) readAll(ctx context.Context, list []found) ([]Entry, error) {
	entries := make([]Entry, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readsAtOnce)
	for i, f := range list {
		group.Go(func() (err error) {
			entries[i], err = l.read(ctx, f)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Run, b.Run), cmp.Compare(b.Number, a.Number))
	})
	return entries, nil
}

// History returns every deletion there was, the latest first, with what became of it: one listing, and one or two reads each.
func (l *Ledger) History(ctx context.Context) ([]Entry, error) {
	list, err := l.list(ctx, l.dir)
	if err != nil {
		return nil, err
	}
	return l.readAll(ctx, list)
}

// Open returns the deletions that are pending, or whose outcome was not carried out to its end, the latest first: one
// listing, and one or two reads each.
func (l *Ledger) Open(ctx context.Context) ([]Entry, error) {
	list, err := l.list(ctx, l.dir)
	if err != nil {
		return nil, err
	}
	return l.readAll(ctx, slices.DeleteFunc(list, func(f found) bool { return f.carried }))
}

// Last returns the latest deletion of a run: one listing and up to two reads. A run that was never deleted is store.ErrNotExist.
func (l *Ledger) Last(ctx context.Context, run tracker.RunID) (Entry, error) {
	list, err := l.list(ctx, l.runDir(run))
	if err != nil {
		return Entry{}, err
	}
	if len(list) == 0 {
		return Entry{}, failure("find deletion of", run, store.ErrNotExist, "it was never deleted")
	}
	return l.read(ctx, list[len(list)-1])
}

// Among reports which of some runs were ever deleted: one listing.
func (l *Ledger) Among(ctx context.Context, runs []tracker.RunID) (map[tracker.RunID]bool, error) {
	list, err := l.list(ctx, l.dir)
	if err != nil {
		return nil, err
	}
	dirs := map[store.Key]bool{}
	for _, f := range list {
		dirs[f.dir] = true
	}
	among := map[tracker.RunID]bool{}
	for _, run := range runs {
		if dirs[l.runDir(run)] {
			among[run] = true
		}
	}
	return among, nil
}

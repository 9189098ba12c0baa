package removal

import (
	"context"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Why says who deletes a run, and for what reason, for people to read.
type Why struct {
	User   string
	Reason string // secrets are redacted
}

// Size is what a run consists of.
type Size struct {
	Records, Output int // objects of the tracker, and of the output directory
	Bytes           int64
}

// Measure looks at a run as Delete would: a listing of its records and one of its output. A run of which nothing is
// kept is store.ErrNotExist.
func (l *Ledger) Measure(ctx context.Context, run tracker.RunID) (Size, error) {
	s, err := l.snap(ctx, run)
	if err != nil {
		return Size{}, err
	}
	if len(s.records) == 0 {
		return Size{}, failure("delete run", run, store.ErrNotExist, "nothing is recorded of it")
	}
	return Size{Records: len(s.records) + len(s.derived), Output: len(s.output), Bytes: s.bytes()}, nil
}

// Delete hides a run until it is restored or purged. A run that is hidden already, and was not written to since, stays
// as it is; the deletion returned is then the earlier one. The error has kind store.ErrNotExist where nothing is recorded of the run,
// store.ErrConflict while it is being purged. Called again after a crash it goes on.
func (l *Ledger) Delete(ctx context.Context, run tracker.RunID, why Why) (Entry, error) {
	for {
		before, err := l.Last(ctx, run)
		if err != nil && !errors.Is(err, store.ErrNotExist) {
			return Entry{}, err
		}
		s, err := l.snap(ctx, run)
		if err != nil {
			return Entry{}, err
		}
		stands, err := l.settle(ctx, before, s)
		if err != nil || stands {
			return before, err
		}
		if len(s.records) == 0 {
			return Entry{}, failure("delete run", run, store.ErrNotExist, "nothing is recorded of it")
		}
		e := Entry{
			Run: run, Number: before.Number + 1, Time: l.now().UTC(), User: why.User, Reason: store.Redact(why.Reason),
			Records: len(s.records) + len(s.derived), Output: len(s.output), Bytes: s.bytes(), print: s.print(),
		}
		if err = l.begin(ctx, &e); !errors.Is(err, store.ErrExist) { // else somebody else deletes it at this moment
			return e, err
		}
	}
}

// settle ends the deletion before, where it does not stand: it was begun and never ended, the run was written to since,
// or it was being restored.
func (l *Ledger) settle(ctx context.Context, before Entry, s *snapshot) (stands bool, err error) {
	switch {
	case before.Number == 0 || before.Done:
		return false, nil
	case before.Outcome == Purged:
		return false, failure("delete run", before.Run, store.ErrConflict, "it is being purged")
	case before.Outcome == Pending && before.print == s.print():
		marks, err := l.t.Hidden(ctx, before.Run)
		if err != nil || len(marks) > 0 {
			return err == nil, err
		}
	}
	_, err = l.Undo(ctx, before.Run, "")
	return false, err
}

// begin notes the deletion and hides the run.
func (l *Ledger) begin(ctx context.Context, e *Entry) error {
	err := l.create(ctx, l.key(e.Run, e.Number, deletedName), deletedRecord{
		Run: e.Run, Time: e.Time, User: e.User, Reason: e.Reason, Records: e.Records, Output: e.Output, Bytes: e.Bytes, Print: e.print,
	})
	if err != nil {
		return err
	}
	if err := l.t.Hide(ctx, e.Run, e.Number); err != nil {
		return err
	}
	// Who was slow here may find it restored meanwhile, or even purged.
	var o outcomeRecord
	decided, err := l.load(ctx, l.key(e.Run, e.Number, outcomeName), &o)
	if err != nil {
		return err
	}
	if decided && o.Outcome == Restored {
		if err := l.t.Unhide(ctx, e.Run, e.Number); err != nil {
			return err
		}
		return failure("delete run", e.Run, store.ErrConflict, "somebody restored it at the same moment")
	}
	return l.announce(ctx, e.Run)
}

// announce tells readers that the run has changed.
func (l *Ledger) announce(ctx context.Context, run tracker.RunID) error {
	if err := l.t.Announce(ctx, run); err != nil {
		return fmt.Errorf("announce the deletion of %s: %w", run, err)
	}
	return nil
}

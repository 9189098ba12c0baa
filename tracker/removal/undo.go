package removal

import (
	"context"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Undo shows a run again, as it was, and with what was written to it since. A run that is not deleted, or was purged, is
// store.ErrNotExist; one that is being purged store.ErrConflict. Called again after a crash it goes on.
func (l *Ledger) Undo(ctx context.Context, run tracker.RunID, user string) (Entry, error) {
	e, err := l.Last(ctx, run)
	if err != nil {
		return Entry{}, err
	}
	if e.Done {
		return e, l.lateMarks(ctx, e)
	}
	if err := l.decide(ctx, &e, Restored, user); err != nil {
		return e, err
	}
	if e.Outcome == Purged {
		return e, failure("restore run", run, store.ErrConflict, "it is being purged since %s", e.Decided.Format(time.RFC3339))
	}
	if err := l.unhide(ctx, e); err != nil {
		return e, err
	}
	if err := l.finish(ctx, &e); err != nil {
		return e, err
	}
	return e, l.announce(ctx, run)
}

// unhide takes away the mark of a deletion, and those of earlier ones that came late.
func (l *Ledger) unhide(ctx context.Context, e Entry) error {
	marks, err := l.t.Hidden(ctx, e.Run)
	if err != nil {
		return err
	}
	for _, n := range marks {
		if n > e.Number {
			continue
		}
		if err := l.t.Unhide(ctx, e.Run, n); err != nil {
			return err
		}
	}
	return nil
}

// lateMarks takes away what a deletion that was restored before it had hidden the run may have left, if its process died
// then. Else there is nothing to restore.
func (l *Ledger) lateMarks(ctx context.Context, e Entry) error {
	marks, err := l.t.Hidden(ctx, e.Run)
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		return over("restore run", e)
	}
	if err := l.unhide(ctx, e); err != nil {
		return err
	}
	return l.announce(ctx, e.Run)
}

// over is the error for a deletion whose outcome was carried out.
func over(op string, e Entry) error {
	return failure(op, e.Run, store.ErrNotExist, "it was %s on %s", e.Outcome, e.Decided.Format(time.RFC3339))
}

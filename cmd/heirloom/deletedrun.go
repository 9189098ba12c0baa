package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/removal"
)

// visibleRun is findRun for those who read of a run less than its whole record, which tells by itself that the run was deleted:
// one listing more.
func (p place) visibleRun(ctx context.Context, text string) (tracker.RunID, error) {
	id, err := p.findRun(ctx, text)
	if err != nil {
		return "", err
	}
	marks, err := p.tracker.Hidden(ctx, id)
	if err == nil && len(marks) > 0 {
		err = &tracker.DeletedError{Run: id}
	}
	return id, err
}

// orDeleted is err, which says that nothing has the name text, unless it is that of a run that was deleted, or of an artifact
// of one: then it says so.
func (p place) orDeleted(ctx context.Context, text string, err error) error {
	for name := text; name != ""; name = beforeHash(name) {
		if found := p.deletion(ctx, name); found != nil {
			return found
		}
	}
	return err
}

// deletion is the error that tells of the deleted run that text names, nil if there is none. Of what can be restored any unique part
// of the id will do, of what is gone for good the whole is needed.
func (p place) deletion(ctx context.Context, text string) error {
	ledger := p.removals()
	if isHandle(text) {
		last, err := ledger.Last(ctx, tracker.RunID(text))
		if err != nil || last.Outcome == removal.Restored {
			return nil
		}
		return deletionError(last)
	}
	open, err := ledger.Open(ctx)
	if err != nil {
		return nil
	}
	run, err := tracker.Match(runsOf(open), text)
	for _, e := range open {
		if err == nil && e.Run == run && e.Outcome != removal.Restored {
			return deletionError(e)
		}
	}
	return nil
}

// deletionError says that a run was deleted, when, by whom and why, and the way back.
func deletionError(e removal.Entry) error {
	if e.Outcome == removal.Purged {
		return &advised{err: &kindError{text: fmt.Sprintf("run %s was deleted for good", e.Run), kind: store.ErrNotExist}, advice: circumstances(e)}
	}
	return &advised{err: &tracker.DeletedError{Run: e.Run}, advice: circumstances(e) + "; heirloom rm --undo restores it"}
}

// circumstances are when a run was deleted, by whom and why.
func circumstances(e removal.Entry) string {
	var b strings.Builder
	b.WriteString("that was on " + e.Time.UTC().Format(time.RFC3339))
	if e.User != "" {
		b.WriteString(" by " + e.User)
	}
	if e.Reason != "" {
		b.WriteString(", for " + store.Redact(oneLine(e.Reason)))
	}
	return b.String()
}

// explain adds to an error about a deleted run what the ledger tells of it.
func (a *app) explain(ctx context.Context, err error) error {
	var deleted *tracker.DeletedError
	if !errors.As(err, &deleted) {
		return err
	}
	p, hereErr := a.here(ctx)
	if hereErr != nil {
		return err
	}
	last, lastErr := p.removals().Last(ctx, deleted.Run)
	if lastErr != nil || last.Outcome == removal.Restored {
		return err
	}
	return &advised{err: err, advice: circumstances(last) + "; heirloom rm --undo restores it"}
}

package tracker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
)

// JournalKept is how long entries of the journal stay. An index lists the whole root
// within a week of the last time, and so needs none that are nearly as old.
const JournalKept = 30 * 24 * time.Hour

// Trimmed says what TrimJournal did.
type Trimmed struct {
	Entries int  // that were deleted, or would be
	More    bool // there are more of them
}

// TrimJournal deletes entries of the journal that are older than JournalKept at a time
// of the store's clock, both by that and by their writers' clocks, the oldest first and
// most of them at the most: one request for each 1,000 that there are, and one for each
// that it deletes, with a dry run none. What is written meanwhile is not touched, and
// where it is interrupted, the next call goes on. What it did before an error is returned
// with it. Without a journal it does nothing.
func (t *FileTracker) TrimJournal(ctx context.Context, now time.Time, most int, dryRun bool) (done Trimmed, err error) {
	if t.opts.Journal == nil {
		return Trimmed{}, nil
	}
	due, more, err := t.oldEntries(ctx, now.Add(-JournalKept), most)
	if err != nil {
		return Trimmed{}, fmt.Errorf("trim journal: %w", err)
	}
	if dryRun {
		return Trimmed{len(due), more}, nil
	}
	gone := make([]bool, len(due))
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range due {
		group.Go(func() error {
			err := t.opts.Journal.Delete(deleting, key)
			if errors.Is(err, store.ErrNotExist) { // another process trims too
				err = nil
			}
			gone[i] = err == nil
			return err
		})
	}
	err = group.Wait()
	for _, yes := range gone {
		if yes {
			done.Entries++
		}
	}
	if err != nil {
		return done, fmt.Errorf("trim journal: %w", err)
	}
	done.More = more
	return done, nil
}

// oldEntries lists entries from before a time by both clocks, and whether there are more than most.
func (t *FileTracker) oldEntries(ctx context.Context, before time.Time, most int) (due []store.Key, more bool, err error) {
	until := JournalFrom(before)
	for o, err := range t.opts.Journal.List(ctx, "") {
		if err != nil {
			return nil, false, err
		}
		if string(o.Key) >= until {
			break
		}
		if !isEntry(o.Key) || !o.Modified.Before(before) {
			continue
		}
		if len(due) == most {
			return due, true, nil
		}
		due = append(due, o.Key)
	}
	return due, false, nil
}

// isEntry says whether a key of the journal has the form of an entry's.
func isEntry(key store.Key) bool {
	day, name, nested := strings.Cut(string(key), "/")
	parts := strings.SplitN(name, "-", 3)
	_, err := time.Parse(journalDay, day)
	return err == nil && nested && len(parts) == 3 && len(parts[0]) == journalDigits && strings.Trim(parts[0], "0123456789") == ""
}

package tracker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// JournalName is where a store keeps the journal of its tracker, below
// store.Layout.Heirloom.
const JournalName = "journal"

const (
	journalDay       = time.DateOnly
	journalDigits    = 19
	maxJournalDir    = 255 - journalDigits - 1 - 8 - 1 // of an element, beside time and random part
	journalDigestTag = "h"                             // no letter of an encoded id
)

// JournalEntry says that something of a run was written, or that it was removed.
type JournalEntry struct {
	Key      store.Key // its name in the journal, which no other entry ever has
	Run      RunID
	Recorded time.Time // when it was kept, by the backend's clock; zero where it tells none
}

// Journaled says whether the tracker has a journal: see Options.Journal.
func (t *FileTracker) Journaled() bool { return t.opts.Journal != nil }

// Announce writes an entry of the journal, in one request, so that those who keep an
// index look at the run again without listing the root. It follows what it tells of:
// StartAttempt, ClaimAttempt and EndAttempt do so themselves, and AppRun.Close; who
// changes or removes a run otherwise calls it. Without a journal it does nothing.
func (t *FileTracker) Announce(ctx context.Context, run RunID) error {
	if _, err := ParseRunID(string(run)); err != nil {
		return err
	}
	t.opts.Wrote(run)
	if t.opts.Journal == nil {
		return nil
	}
	key, err := t.journalKey(run)
	if err == nil {
		err = t.opts.Journal.Put(ctx, key, []byte(run))
	}
	if err != nil {
		return fmt.Errorf("announce %s: %w", printable(string(run)), err)
	}
	return nil
}

// announce is Announce of what has been done already. Should it fail, indexes learn of
// the run later, by a listing of the root: that is worth a warning and no more.
func (t *FileTracker) announce(ctx context.Context, run RunID) {
	if err := t.Announce(ctx, run); err != nil {
		t.opts.Warn(Warning{Key: run.dir(), Reason: "others will see the change late, since " + err.Error()})
	}
}

// journalKey is <day>/<nanoseconds>-<random>-<encoded id>, by the writer's clock. An id
// that is too long for that stands in the body alone.
func (t *FileTracker) journalKey(run RunID) (store.Key, error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	now, dir := t.opts.Now().UTC(), run.Encode()
	if len(dir) > maxJournalDir {
		sum := sha256.Sum256([]byte(run))
		dir = journalDigestTag + hex.EncodeToString(sum[:])
	}
	return store.Key(now.Format(journalDay)).Join(fmt.Sprintf("%0*d-%x-%s", journalDigits, now.UnixNano(), random, dir)), nil
}

// JournalFrom is what comes before the names of entries whose writers' clocks said
// since or later, and after those of earlier ones; "" where all are later.
func JournalFrom(since time.Time) string {
	if since.Unix() <= 0 {
		return ""
	}
	return since.UTC().Format(journalDay) + fmt.Sprintf("/%0*d", journalDigits, since.UnixNano())
}

// Journal yields the entries whose writers' clocks said since or later, the zero time
// for all, in the order of those clocks: one request for each 1,000, and one for each
// entry of an id of more than 130 bytes. Names that are none are passed over. An error
// is the last thing yielded; of a tracker without a journal there are no entries.
func (t *FileTracker) Journal(ctx context.Context, since time.Time) iter.Seq2[JournalEntry, error] {
	return func(yield func(JournalEntry, error) bool) {
		if t.opts.Journal == nil {
			return
		}
		for o, err := range t.opts.Journal.ListAfter(ctx, "", JournalFrom(since)) {
			if err != nil {
				yield(JournalEntry{}, fmt.Errorf("read journal: %w", err))
				return
			}
			e, ok, err := t.journalEntry(ctx, o)
			if err != nil {
				yield(JournalEntry{}, fmt.Errorf("read journal: %w", err))
				return
			}
			if ok && !yield(e, nil) {
				return
			}
		}
	}
}

// journalEntry reads the name of an entry, and its body where the name does not hold the id.
func (t *FileTracker) journalEntry(ctx context.Context, o store.Object) (e JournalEntry, ok bool, err error) {
	e = JournalEntry{Key: o.Key, Recorded: o.Modified}
	if !isEntry(o.Key) {
		return e, false, nil
	}
	parts := strings.SplitN(o.Key.Base(), "-", 3)
	if !strings.HasPrefix(parts[2], journalDigestTag) {
		id, err := DecodeRunID(parts[2])
		e.Run = id
		return e, err == nil, nil
	}
	body, err := t.opts.Journal.Get(ctx, o.Key)
	if badRecord(err) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	e.Run, err = ParseRunID(string(body))
	return e, err == nil, nil
}

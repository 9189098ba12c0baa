package index

import (
	"context"
	"errors"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	// journalSkew is how far a writer's clock may lag behind the backend's for its entries to be found where they are
	// looked for. A whole listing finds what later ones tell.
	journalSkew = time.Hour
	// journalFirst is how far back the journal is read before a first listing, which tells all that is older.
	journalFirst = 24 * time.Hour
)

// heard is what the journal tells that was not known yet.
type heard struct {
	runs   map[tracker.RunID]bool // that changed or have gone
	names  []store.Key            // of the entries
	newest time.Time              // of all entries that were read, by the backend's clock
	denied bool                   // the journal may not be read
}

// listen reads the entries of the journal that came since the last refresh. An entry is named by its writer's clock and
// kept by the backend's: it is looked for from some time before the newest that was known of the latter, and told from
// those that were seen there by its name.
func (x *Index) listen(ctx context.Context, now time.Time) (*heard, error) {
	h := &heard{runs: map[tracker.RunID]bool{}}
	if !x.tracker.Journaled() {
		return h, nil
	}
	since, err := x.moment(ctx, journalSetting)
	if err != nil {
		return nil, err
	}
	seen, err := x.seen(ctx)
	if err != nil {
		return nil, err
	}
	h.newest = since
	if since.IsZero() {
		since = now.Add(journalSkew - journalFirst)
	}
	for e, err := range x.tracker.Journal(ctx, since.Add(-journalSkew)) {
		if errors.Is(err, store.ErrPermission) {
			h.denied = true
			return h, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Recorded.After(h.newest) {
			h.newest = e.Recorded
		}
		if !seen[e.Key] {
			h.runs[e.Run] = true
			h.names = append(h.names, e.Key)
		}
	}
	return h, nil
}

// seen are the entries that were read before, as far as they are where new ones are looked for.
func (x *Index) seen(ctx context.Context) (map[store.Key]bool, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT name FROM seen")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := map[store.Key]bool{}
	for rows.Next() {
		var name store.Key
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names[name] = true
	}
	return names, rows.Err()
}

// note says what this pass has come to know, and when it began.
func (r *refresh) note(ctx context.Context, w *writer) error {
	for _, name := range r.heard.names {
		if err := w.exec(ctx, "INSERT OR IGNORE INTO seen (name) VALUES (?)", string(name)); err != nil {
			return err
		}
	}
	newest := r.heard.newest
	if r.done.Whole && newest.IsZero() {
		newest = r.newest // the journal is younger than that, or was read just now
	}
	if !newest.IsZero() {
		if err := w.exec(ctx, "DELETE FROM seen WHERE name < ?", tracker.JournalFrom(newest.Add(-journalSkew))); err != nil {
			return err
		}
		if err := w.set(ctx, journalSetting, newest.UnixNano()); err != nil {
			return err
		}
	}
	if err := r.noteListings(ctx, w); err != nil {
		return err
	}
	return w.set(ctx, refreshedSetting, r.done.Began.UnixNano())
}

// noteListings says when the root was listed, and when all of it is to be listed again: the longer nothing is found of
// which the journal had not told, the later.
func (r *refresh) noteListings(ctx context.Context, w *writer) error {
	began := r.done.Began.UnixNano()
	if len(r.surprises) > 0 {
		if err := w.set(ctx, surprisedSetting, began); err != nil {
			return err
		}
	}
	if r.named || r.done.Whole {
		if err := w.set(ctx, namedSetting, began); err != nil {
			return err
		}
	}
	if !r.done.Whole {
		return nil
	}
	pause := min(max(2*r.pause, int64(minPause)), int64(maxPause))
	if len(r.surprises) > 0 {
		pause = int64(minPause)
	}
	if err := w.set(ctx, pauseSetting, pause); err != nil {
		return err
	}
	return w.set(ctx, listedSetting, began)
}

package index

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	minPause  = 10 * time.Minute   // between two whole listings at least; on a local disk, at most
	maxPause  = 7 * 24 * time.Hour // at most
	namePause = 24 * time.Hour     // between two listings of the root's directories, where they cost requests

	maxSurveys      = 4000      // runs that are looked at one by one; more are listed with the root
	parallelSurveys = 16        // runs that are listed at a time
	longLost        = time.Hour // how long a run that gave no more signs of life is looked at all the same
	granularity     = 20 * time.Millisecond
)

// What is older than the last whole listing needs no notes: see tracker.TrimJournal.
const _ = uint64(tracker.JournalKept - 2*maxPause)

// CatchUp brings the index up to date without a listing of the root: it reads what the journal tells since the last
// time, and lists each run that changed, was not ended, or was too young to be trusted. That finds all that heirloom's
// own writers did. What others do is found on a local disk if a run comes or goes, and else by whole listings, see
// Refresh, which CatchUp makes when they are due: always where there is no journal, or where within a day something
// was found of which it had not told, and else after ten minutes on a local disk, and after ever longer times, up to a
// week, elsewhere.
func (x *Index) CatchUp(ctx context.Context) (Refreshed, error) {
	return x.alone(ctx, refreshedSetting, func(ctx context.Context) (Refreshed, error) {
		due, err := x.wholeDue(ctx)
		if err != nil {
			return Refreshed{}, err
		}
		if due {
			return x.refreshWhole(ctx)
		}
		return x.catchUp(ctx)
	})
}

// wholeDue says whether the whole root must be listed.
func (x *Index) wholeDue(ctx context.Context) (bool, error) {
	listed, err := x.moment(ctx, listedSetting)
	if err != nil || listed.IsZero() || !x.tracker.Journaled() {
		return true, err
	}
	surprised, err := x.moment(ctx, surprisedSetting)
	if err != nil {
		return false, err
	}
	pause, err := x.number(ctx, pauseSetting)
	if _, local := x.tracker.Store().LocalPath(""); local {
		pause = min(pause, int64(minPause))
	}
	now := x.opts.Now()
	age := now.Sub(listed)
	return age < -minPause || age > time.Duration(pause) || !surprised.IsZero() && now.Sub(surprised) < afterSurprise, err
}

func (x *Index) catchUp(ctx context.Context) (Refreshed, error) {
	r, err := x.begin(ctx)
	if err != nil {
		return Refreshed{}, err
	}
	ids, err := r.changed(ctx)
	if err != nil {
		return r.done, err
	}
	if r.heard.denied || len(ids) > maxSurveys {
		return x.refreshWhole(ctx)
	}
	for some := range slices.Chunk(ids, batch) {
		if err := r.survey(ctx, some); err != nil {
			return r.done, err
		}
	}
	if err := r.judge(ctx); err != nil {
		return r.done, err
	}
	return r.done, r.finish(ctx)
}

// changed lists the runs that must be looked at.
func (r *refresh) changed(ctx context.Context) ([]tracker.RunID, error) {
	runs := maps.Clone(r.heard.runs)
	rows, err := r.db.QueryContext(ctx, `SELECT id FROM run JOIN node ON node.n = run.n WHERE (state = 'RUNNING' OR settled = 0) AND
		(state = 'RUNNING' AND (lost_at IS NULL OR lost_at > ?) OR settled = 0 AND warnings = 0)`, r.done.Began.Add(-longLost).UnixNano())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id tracker.RunID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		runs[id] = true
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if err := r.names(ctx, runs); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(runs)), nil
}

// names adds the runs that have come or gone by the directories of the root, when it is time to look.
func (r *refresh) names(ctx context.Context, runs map[tracker.RunID]bool) error {
	named, err := r.moment(ctx, namedSetting)
	if err != nil || !r.namesDue(named) {
		return err
	}
	ids, err := r.RunIDs(ctx)
	if err != nil {
		return err
	}
	known := make(map[tracker.RunID]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	for id, err := range r.tracker.RunIDs(ctx, "") {
		if err != nil {
			return err
		}
		if !known[id] {
			runs[id] = true
		}
		delete(known, id)
	}
	for id := range known {
		runs[id] = true
	}
	r.named = true
	return nil
}

// namesDue says whether it is time to look. A directory of a local disk tells when names came or went.
func (r *refresh) namesDue(named time.Time) bool {
	root, local := r.tracker.Store().LocalPath("")
	if !local {
		return r.done.Began.Sub(named) > namePause || r.done.Began.Before(named)
	}
	info, err := os.Stat(root)
	return err != nil || !info.ModTime().Before(named.Add(-granularity))
}

// survey lists some runs, and reads those that changed.
func (r *refresh) survey(ctx context.Context, ids []tracker.RunID) error {
	surveys := make([]*tracker.Survey, len(ids))
	group, listing := errgroup.WithContext(ctx)
	group.SetLimit(parallelSurveys)
	for i, id := range ids {
		group.Go(func() (err error) {
			surveys[i], err = r.tracker.Survey(listing, id)
			if errors.Is(err, store.ErrNotExist) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var pending []*tracker.Survey
	for i, id := range ids {
		k, err := r.knownAs(ctx, id)
		if err != nil {
			return err
		}
		s := surveys[i]
		switch {
		case s == nil && k.n != 0:
			r.gone = append(r.gone, k.n)
		case s == nil:
		case k.n == 0 || !k.settled || string(k.print) != string(s.Print[:]):
			r.saw(s)
			r.surprised(s, k)
			pending = append(pending, s)
		default:
			r.saw(s)
		}
	}
	return r.take(ctx, pending)
}

// knownAs is a run as the index has it, without a number if it has none.
func (r *refresh) knownAs(ctx context.Context, id tracker.RunID) (k knownRun, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT run.n, dir, print, settled, state = 'RUNNING' FROM run JOIN node ON node.n = run.n WHERE id = ?", string(id)).
		Scan(&k.n, &k.dir, &k.print, &k.settled, &k.open)
	if errors.Is(err, sql.ErrNoRows) {
		return knownRun{}, nil
	}
	return k, err
}

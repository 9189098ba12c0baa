package index

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// The settings are numbers, times of which are nanoseconds since the Unix epoch.
const (
	refreshedSetting = "refreshed" // when the last refresh of either kind began
	listedSetting    = "listed"    // when the last listing of the whole root began
	namedSetting     = "named"     // when the directories of the root were last listed, or all of it
	journalSetting   = "journal"   // the newest entry that was read, by the backend's clock
	surprisedSetting = "surprised" // when a whole listing last found something of which the journal had not told
	fillingSetting   = "filling"   // which filling the index is being filled by; no time
	pauseSetting     = "pause"     // how long after a whole listing the next is due, in nanoseconds
)

func (w *writer) set(ctx context.Context, name string, value int64) error {
	return w.exec(ctx, "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", name, value)
}

// number is a setting, 0 if it was never set.
func (x *Index) number(ctx context.Context, name string) (n int64, err error) {
	err = x.db.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", name).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// moment is a setting that is a time, zero if it was never set.
func (x *Index) moment(ctx context.Context, name string) (time.Time, error) {
	n, err := x.number(ctx, name)
	if n == 0 || err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, n), nil
}

// AsOf is when the last complete refresh began: what heirloom's writers wrote before is known, and of others what was
// written before Listed. It is zero where there was none.
func (x *Index) AsOf(ctx context.Context) (time.Time, error) { return x.moment(ctx, refreshedSetting) }

// Listed is when the whole root was last listed. It is zero where it never was.
func (x *Index) Listed(ctx context.Context) (time.Time, error) { return x.moment(ctx, listedSetting) }

// Completeness says how far an answer can be trusted.
type Completeness struct {
	AsOf       time.Time // see Index.AsOf
	Runs       int
	Unreadable int // records that could not be read
	NoInputs   int // runs that recorded nothing they used
}

// Completeness tells it of all runs.
func (x *Index) Completeness(ctx context.Context) (Completeness, error) {
	var c Completeness
	var err error
	if c.AsOf, err = x.AsOf(ctx); err != nil {
		return c, err
	}
	err = x.db.QueryRowContext(ctx, "SELECT runs, unreadable, no_inputs FROM total").Scan(&c.Runs, &c.Unreadable, &c.NoInputs)
	return c, err
}

package index

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// refreshedSetting is when the last complete refresh began, in nanoseconds since the Unix epoch.
const refreshedSetting = "refreshed"

func (w *writer) set(ctx context.Context, name string, value int64) error {
	return w.exec(ctx, "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", name, value)
}

// AsOf is when the last complete refresh began: what was written before is known. It is zero where there was none.
func (x *Index) AsOf(ctx context.Context) (time.Time, error) {
	var n int64
	err := x.db.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = ?", refreshedSetting).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.Unix(0, n), err
}

// Completeness says how far an answer can be trusted.
type Completeness struct {
	AsOf       time.Time // see Index.AsOf
	Runs       int
	Unreadable int // records that could not be read
	NoInputs   int // runs that recorded nothing they used
}

// Completeness counts over all runs.
func (x *Index) Completeness(ctx context.Context) (Completeness, error) {
	var c Completeness
	var err error
	if c.AsOf, err = x.AsOf(ctx); err != nil {
		return c, err
	}
	err = x.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(warnings), 0), coalesce(sum(inputs = 0), 0) FROM run").
		Scan(&c.Runs, &c.Unreadable, &c.NoInputs)
	return c, err
}

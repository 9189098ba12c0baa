package index

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// newestRuns is how many of the newest runs are looked at one by one before all of those that a filter lets through are
// searched for: mostly they are enough for a short list.
const newestRuns = 5000

// numbers finds the runs that a query wants.
func (x *Index) numbers(ctx context.Context, q Query, now time.Time) ([]int64, error) {
	if q.Where != nil && q.Limit > 0 && q.Order == nil {
		list, all, err := x.amongNewest(ctx, q, now)
		if err != nil || all || len(list) == q.Limit {
			return list, err
		}
	}
	return x.ask(ctx, q.compile(&condition{now: now, sets: true}))
}

// amongNewest looks among the newest runs alone. Where they may not be enough, all is false.
func (x *Index) amongNewest(ctx context.Context, q Query, now time.Time) (list []int64, all bool, err error) {
	var since sql.NullInt64
	err = x.db.QueryRowContext(ctx, "SELECT started FROM run ORDER BY started DESC LIMIT 1 OFFSET ?", x.newest).Scan(&since)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, false, err
	}
	list, err = x.ask(ctx, q.compile(&condition{now: now, since: since.Int64}))
	return list, !since.Valid, err
}

// ask yields the numbers of runs.
func (x *Index) ask(ctx context.Context, c *condition) ([]int64, error) {
	rows, err := x.db.QueryContext(ctx, c.sql.String(), c.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

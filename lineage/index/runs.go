package index

import (
	"context"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Query says which runs are wanted. The zero value is all of them, the newest first.
type Query struct {
	Where  filter.Expr    // nil = all
	Order  []filter.Order // nil = by start, the newest first; ties are in order of id
	Limit  int            // 0 = all
	Offset int            // runs passed over first
}

// Runs yields runs as FileTracker.Runs does, with sources and children, in the order that was asked for.
func (x *Index) Runs(ctx context.Context, q Query) ([]*tracker.Run, error) {
	now := x.opts.Now()
	numbers, err := x.numbers(ctx, q, now)
	if err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	runs, err := x.family(ctx, numbers, now)
	if err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	return runs, nil
}

// compile writes the query into an empty condition, as SQL that yields numbers of runs.
func (q Query) compile(c *condition) *condition {
	c.add("SELECT run.n FROM run JOIN node ON node.n = run.n")
	if q.Where != nil {
		c.add(" WHERE ")
		c.group(q.Where)
	}
	if c.since != 0 {
		c.add(" AND run.started >= ?", c.since)
	}
	c.add(" ORDER BY ")
	for _, o := range q.Order {
		c.order(o)
	}
	if q.Order == nil {
		c.add("run.started DESC NULLS LAST, ")
	}
	c.add("node.id")
	if q.Limit > 0 || q.Offset > 0 {
		limit := q.Limit
		if limit <= 0 {
			limit = -1
		}
		c.add(" LIMIT ? OFFSET ?", limit, q.Offset)
	}
	return c
}

// order puts runs without a value last, and numbers before texts.
func (c *condition) order(o filter.Order) {
	col := c.column(o.Field)
	direction := ""
	if o.Descending {
		direction = " DESC"
	}
	for _, value := range []string{col.time, rankOf(col), col.number, col.text} {
		if value == "" {
			continue
		}
		way := direction
		c.add("(SELECT "+value+" "+col.from+" LIMIT 1)", col.args...)
		c.add(way + " NULLS LAST, ")
	}
}

// rankOf is 0 for numbers and 1 for texts.
func rankOf(col column) string {
	if col.number == "" || col.text == "" || col.number == col.text {
		return ""
	}
	return "(" + col.number + " IS NULL)"
}

func unixNano(n int64) time.Time { return time.Unix(0, n).UTC() }

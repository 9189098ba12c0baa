package index

import (
	"context"
	"database/sql"
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
	c := q.compile(now)
	rows, err := x.db.QueryContext(ctx, c.sql.String(), c.args...)
	if err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	defer rows.Close()
	var numbers []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	runs := make([]*tracker.Run, len(numbers))
	for i, n := range numbers {
		if runs[i], err = x.run(ctx, n, now); err != nil {
			return nil, fmt.Errorf("ask index for runs: %w", err)
		}
	}
	return runs, nil
}

// compile writes the query as SQL that yields numbers of runs.
func (q Query) compile(now time.Time) *condition {
	c := &condition{now: now}
	c.add("SELECT run.n FROM run JOIN node ON node.n = run.n")
	if q.Where != nil {
		c.add(" WHERE ")
		c.where(q.Where)
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

// run reads one run.
func (x *Index) run(ctx context.Context, n int64, now time.Time) (*tracker.Run, error) {
	var id string
	var body []byte
	err := x.db.QueryRowContext(ctx, "SELECT id, body FROM node JOIN record ON record.run = node.n WHERE node.n = ?", n).Scan(&id, &body)
	if err != nil {
		return nil, err
	}
	run := &tracker.Run{ID: tracker.RunID(id)}
	if err := decode(run, body, now); err != nil {
		return nil, err
	}
	if run.Sources, err = x.sources(ctx, n); err != nil {
		return nil, err
	}
	run.Children, err = x.children(ctx, n)
	return run, err
}

func (x *Index) sources(ctx context.Context, n int64) ([]tracker.Source, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT id, artifact, role, time, uri, name, version, digest
		FROM link JOIN node ON node.n = link.source WHERE run = ? ORDER BY id, artifact`, n)
	if err != nil {
		return nil, err
	}
	return readSources(rows)
}

func unixNano(n int64) time.Time { return time.Unix(0, n).UTC() }

// readSources reads rows of links, with the id at their other end, and closes them.
func readSources(rows *sql.Rows) ([]tracker.Source, error) {
	defer rows.Close()
	var list []tracker.Source
	for rows.Next() {
		var s tracker.Source
		var at sql.NullInt64
		if err := rows.Scan(&s.ID, &s.Artifact, &s.Role, &at, &s.URI, &s.Name, &s.Version, &s.Digest); err != nil {
			return nil, err
		}
		if at.Valid {
			s.Time = unixNano(at.Int64)
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

func (x *Index) children(ctx context.Context, n int64) ([]tracker.RunID, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT DISTINCT id FROM link JOIN node ON node.n = link.run WHERE source = ? ORDER BY id`, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []tracker.RunID
	for rows.Next() {
		var id tracker.RunID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, rows.Err()
}

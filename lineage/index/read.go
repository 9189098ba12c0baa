package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Records reads the runs of these ids with three statements in all, without their children. Those that the root does not
// record are left out.
func (x *Index) Records(ctx context.Context, ids []tracker.RunID) (map[tracker.RunID]*tracker.Run, error) {
	numbers := make([]int64, 0, len(ids))
	err := x.rows(ctx, "SELECT run.n FROM json_each(?) AS asked CROSS JOIN node ON node.id = asked.value CROSS JOIN run ON run.n = node.n", idArray(ids),
		func(rows *sql.Rows) error {
			var n int64
			err := rows.Scan(&n)
			numbers = append(numbers, n)
			return err
		})
	if err != nil {
		return nil, err
	}
	found, err := x.read(ctx, numbers, x.opts.Now())
	runs := make(map[tracker.RunID]*tracker.Run, len(found))
	for _, run := range found {
		runs[run.ID] = run
	}
	return runs, err
}

// idArray is ids as JSON, whatever their bytes.
func idArray(ids []tracker.RunID) string {
	text := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '"')
		for _, c := range []byte(id) {
			switch {
			case c < ' ':
				text = fmt.Appendf(text, `\u%04x`, c)
				continue
			case c == '"' || c == '\\':
				text = append(text, '\\')
			}
			text = append(text, c)
		}
		text = append(text, '"')
	}
	return string(append(text, ']'))
}

// family reads runs by their numbers, in this order, with their children.
func (x *Index) family(ctx context.Context, numbers []int64, now time.Time) ([]*tracker.Run, error) {
	list, err := x.read(ctx, numbers, now)
	if err != nil {
		return nil, err
	}
	return list, x.readChildren(ctx, array(numbers), list)
}

// read reads runs by their numbers, in this order.
func (x *Index) read(ctx context.Context, numbers []int64, now time.Time) ([]*tracker.Run, error) {
	runs := make(map[int64]*tracker.Run, len(numbers))
	asked := array(numbers)
	err := x.rows(ctx, `SELECT node.n, node.id, body FROM json_each(?) AS asked
		CROSS JOIN node ON node.n = asked.value CROSS JOIN record ON record.run = node.n`, asked, func(rows *sql.Rows) error {
		var n int64
		var body sql.RawBytes
		run := &tracker.Run{}
		if err := rows.Scan(&n, &run.ID, &body); err != nil {
			return err
		}
		runs[n] = run
		return decode(run, body, now)
	})
	if err != nil {
		return nil, err
	}
	if err := x.readSources(ctx, asked, runs); err != nil {
		return nil, err
	}
	list := make([]*tracker.Run, 0, len(numbers))
	for _, n := range numbers {
		if run := runs[n]; run != nil { // else another process has just removed it
			list = append(list, run)
		}
	}
	return list, nil
}

func (x *Index) readSources(ctx context.Context, asked string, runs map[int64]*tracker.Run) error {
	err := x.rows(ctx, `SELECT link.run, node.id, artifact, role, time, uri, link.name, version, digest FROM json_each(?) AS asked
		CROSS JOIN link ON link.run = asked.value CROSS JOIN node ON node.n = link.source`, asked, func(rows *sql.Rows) error {
		var n int64
		var at sql.NullInt64
		var s tracker.Source
		if err := rows.Scan(&n, &s.ID, &s.Artifact, &s.Role, &at, &s.URI, &s.Name, &s.Version, &s.Digest); err != nil {
			return err
		}
		if at.Valid {
			s.Time = unixNano(at.Int64)
		}
		if run := runs[n]; run != nil {
			run.Sources = append(run.Sources, s)
		}
		return nil
	})
	for _, run := range runs {
		slices.SortFunc(run.Sources, func(a, b tracker.Source) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Artifact, b.Artifact))
		})
	}
	return err
}

func (x *Index) readChildren(ctx context.Context, asked string, runs []*tracker.Run) error {
	byID := make(map[tracker.RunID]*tracker.Run, len(runs))
	for _, run := range runs {
		byID[run.ID] = run
	}
	err := x.rows(ctx, `SELECT DISTINCT source.id, node.id FROM json_each(?) AS asked CROSS JOIN node AS source ON source.n = asked.value
		CROSS JOIN link ON link.source = asked.value CROSS JOIN node ON node.n = link.run`, asked, func(rows *sql.Rows) error {
		var id, child tracker.RunID
		if err := rows.Scan(&id, &child); err != nil {
			return err
		}
		if run := byID[id]; run != nil {
			run.Children = append(run.Children, child)
		}
		return nil
	})
	for _, run := range runs {
		slices.Sort(run.Children)
	}
	return err
}

// rows calls do with every row of an answer.
func (x *Index) rows(ctx context.Context, query string, arg any, do func(*sql.Rows) error) error {
	rows, err := x.db.QueryContext(ctx, query, arg)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

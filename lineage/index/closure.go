package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Near is the part of the graph that can be reached from a node, up, down or both, with all edges between its nodes
// and, of each, those that tell what kind of thing it is. Closure, asked of it with the same query, answers as it would
// of the whole graph. An id that is no node is store.ErrNotExist.
func (x *Index) Near(ctx context.Context, id string, q lineage.Query) (*lineage.Graph, error) {
	return x.NearAll(ctx, []string{id}, q)
}

// NearAll is Near of several nodes at once. Ids that are no nodes are passed over, but if none is, the error is
// store.ErrNotExist.
func (x *Index) NearAll(ctx context.Context, ids []string, q lineage.Query) (*lineage.Graph, error) {
	var roots []int64
	for _, id := range ids {
		n, err := x.place(ctx, id)
		switch {
		case err == nil:
			roots = append(roots, n)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("ask index for lineage: %w", err)
		case len(ids) == 1:
			return nil, &store.Error{Op: "find", Key: id, Kind: store.ErrNotExist, Err: errors.New("it is no node of this lineage")}
		}
	}
	if len(roots) == 0 {
		return nil, &store.Error{Op: "find", Kind: store.ErrNotExist, Err: errors.New("none of these is a node of this lineage")}
	}
	graph, err := x.reach(ctx, roots, q)
	if err != nil {
		return nil, fmt.Errorf("ask index for lineage: %w", err)
	}
	return graph, nil
}

// place is the number of a node; sql.ErrNoRows if it is none, or none any more.
func (x *Index) place(ctx context.Context, id string) (n int64, err error) {
	err = x.db.QueryRowContext(ctx, `SELECT n FROM node WHERE id = ? AND
		(EXISTS (SELECT 1 FROM run WHERE run.n = node.n) OR EXISTS (SELECT 1 FROM link WHERE link.source = node.n))`, id).Scan(&n)
	return n, err
}

// The neighbours of a level, some more than once, and all that can be reached from it. Each comes as a JSON array of numbers:
// a row for each would take longer than to find them.
const (
	levelAbove = "SELECT json_group_array(n) FROM (SELECT link.source AS n FROM json_each(?1) AS level CROSS JOIN link ON link.run = level.value" +
		" UNION ALL SELECT run FROM (" + madeAbove + "))"
	levelBelow = "SELECT json_group_array(n) FROM (SELECT link.run AS n FROM json_each(?1) AS level CROSS JOIN link ON link.source = level.value" +
		" UNION ALL SELECT input FROM (" + madeBelow + "))"
	allAbove = "WITH RECURSIVE reached(n) AS (SELECT value FROM json_each(?1)" +
		" UNION SELECT link.source FROM reached CROSS JOIN link ON link.run = reached.n" +
		" UNION SELECT artifact.run FROM reached CROSS JOIN node AS input ON input.n = reached.n CROSS JOIN artifact ON artifact.path = input.id" + notRun +
		") SELECT json_group_array(n) FROM reached"
	allBelow = "WITH RECURSIVE reached(n) AS (SELECT value FROM json_each(?1)" +
		" UNION SELECT link.run FROM reached CROSS JOIN link ON link.source = reached.n" +
		" UNION SELECT input.n FROM reached CROSS JOIN artifact ON artifact.run = reached.n CROSS JOIN node AS input ON input.id = artifact.path" + notRun +
		") SELECT json_group_array(n) FROM reached"
)

// reach goes to each node once, so that cycles and long ways cost no more than their nodes.
func (x *Index) reach(ctx context.Context, roots []int64, q lineage.Query) (*lineage.Graph, error) {
	if !q.Up && !q.Down {
		q.Up, q.Down = true, true
	}
	found := newSet(roots)
	if q.Up {
		if err := x.spread(ctx, found, roots, q.Depth, levelAbove, allAbove); err != nil {
			return nil, err
		}
	}
	if q.Down {
		if err := x.spread(ctx, found, roots, q.Depth, levelBelow, allBelow); err != nil {
			return nil, err
		}
	}
	g, err := x.graph(ctx, found)
	if err != nil {
		return nil, err
	}
	return x.withMade(ctx, g, found)
}

// set is numbers of nodes, in the order in which they were found.
type set struct {
	has  map[int64]bool
	list []int64
}

func newSet(list []int64) *set {
	s := &set{has: map[int64]bool{}}
	for _, n := range list {
		s.add(n)
	}
	return s
}

// add reports whether n is new.
func (s *set) add(n int64) bool {
	if s.has[n] {
		return false
	}
	s.has[n] = true
	s.list = append(s.list, n)
	return true
}

// spread adds what can be reached from the roots: level by level by the query for the next, or, however deep, by that for all.
func (x *Index) spread(ctx context.Context, found *set, roots []int64, depth int, next, all string) error {
	if depth <= 0 {
		var list []byte
		err := x.db.QueryRowContext(ctx, all, array(roots)).Scan(&list)
		for n := range numbersIn(list) {
			found.add(n)
		}
		return err
	}
	stmt, err := x.db.PrepareContext(ctx, next)
	if err != nil {
		return err
	}
	defer stmt.Close()
	seen := newSet(roots)
	for level, steps := roots, 0; len(level) > 0 && steps < depth; steps++ {
		known := len(seen.list)
		var found []byte
		if err := stmt.QueryRowContext(ctx, array(level)).Scan(&found); err != nil {
			return err
		}
		for n := range numbersIn(found) {
			seen.add(n)
		}
		level = seen.list[known:]
	}
	for _, n := range seen.list {
		found.add(n)
	}
	return nil
}

// array is numbers as JSON.
func array(list []int64) string {
	text := []byte{'['}
	for i, n := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, n, 10)
	}
	return string(append(text, ']'))
}

// each calls do with every number that the statement yields.
func each(ctx context.Context, stmt *sql.Stmt, arg any, do func(int64)) error {
	rows, err := stmt.QueryContext(ctx, arg)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return err
		}
		do(n)
	}
	return rows.Err()
}

// numbersIn yields what array wrote, or SQLite likewise: numbers of nodes, which are never negative.
func numbersIn(text []byte) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		var n int64
		for _, c := range text[min(1, len(text)):] {
			switch {
			case '0' <= c && c <= '9':
				n = 10*n + int64(c-'0')
			case len(text) == 2 || !yield(n): // an empty array
				return
			default:
				n = 0
			}
		}
	}
}

// graph makes a graph of nodes, of all edges between them, and of those that tell what an input is.
func (x *Index) graph(ctx context.Context, found *set) (*lineage.Graph, error) {
	ids, runs, inputs, err := x.names(ctx, found)
	if err != nil {
		return nil, err
	}
	edges, err := x.between(ctx, ids, runs)
	if err != nil {
		return nil, err
	}
	t, err := x.teller(ctx)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for _, n := range inputs {
		told, err := t.told(ctx, n, ids[n])
		if err != nil {
			return nil, err
		}
		edges = append(edges, told...)
	}
	list := make([]tracker.RunID, len(runs))
	for i, n := range runs {
		list[i] = ids[n]
	}
	return lineage.New(list, edges), nil
}

// names reads the ids of nodes, and tells runs of the root from the rest.
func (x *Index) names(ctx context.Context, found *set) (ids map[int64]tracker.RunID, runs, inputs []int64, err error) {
	rows, err := x.db.QueryContext(ctx, `SELECT node.n, node.id, EXISTS (SELECT 1 FROM run WHERE run.n = node.n)
		FROM json_each(?) AS found CROSS JOIN node ON node.n = found.value`, array(found.list))
	if err != nil {
		return nil, nil, nil, err
	}
	defer rows.Close()
	ids = make(map[int64]tracker.RunID, len(found.list))
	for rows.Next() {
		var n int64
		var id tracker.RunID
		var isRun bool
		if err := rows.Scan(&n, &id, &isRun); err != nil {
			return nil, nil, nil, err
		}
		ids[n] = id
		if isRun {
			runs = append(runs, n)
		} else {
			inputs = append(inputs, n)
		}
	}
	return ids, runs, inputs, rows.Err()
}

package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

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

// NearAll is Near of several nodes at once. Ids that are no node are passed over; if none is one, the error is
// store.ErrNotExist.
func (x *Index) NearAll(ctx context.Context, ids []string, q lineage.Query) (*lineage.Graph, error) {
	var roots []int64
	for _, id := range ids {
		root, err := x.place(ctx, id)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ask index for lineage: %w", err)
		}
		roots = append(roots, root)
	}
	if roots == nil {
		return nil, &store.Error{Op: "find", Key: strings.Join(ids, ", "), Kind: store.ErrNotExist, Err: errors.New("it is no node of this lineage")}
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

// reach walks level by level, so that cycles and long ways cost no more than their nodes.
func (x *Index) reach(ctx context.Context, roots []int64, q lineage.Query) (*lineage.Graph, error) {
	if !q.Up && !q.Down {
		q.Up, q.Down = true, true
	}
	found := map[int64]bool{}
	for _, root := range roots {
		found[root] = true
	}
	for _, way := range []struct {
		asked    bool
		from, to string
	}{{q.Up, "run", "source"}, {q.Down, "source", "run"}} {
		if !way.asked {
			continue
		}
		if err := x.spread(ctx, found, roots, q.Depth, "SELECT DISTINCT "+way.to+" FROM link WHERE "+way.from+" = ?"); err != nil {
			return nil, err
		}
	}
	return x.graph(ctx, found)
}

// spread adds what can be reached from the roots by the query for neighbours.
func (x *Index) spread(ctx context.Context, found map[int64]bool, roots []int64, depth int, neighbours string) error {
	stmt, err := x.db.PrepareContext(ctx, neighbours)
	if err != nil {
		return err
	}
	defer stmt.Close()
	seen := map[int64]bool{}
	for _, root := range roots {
		seen[root] = true
	}
	level := roots
	for steps := 0; len(level) > 0 && (depth <= 0 || steps < depth); steps++ {
		var next []int64
		for _, n := range level {
			err := each(ctx, stmt, n, func(to int64) {
				if !seen[to] {
					seen[to], found[to] = true, true
					next = append(next, to)
				}
			})
			if err != nil {
				return err
			}
		}
		level = next
	}
	return nil
}

// each calls do with every number that the statement yields for n.
func each(ctx context.Context, stmt *sql.Stmt, n int64, do func(int64)) error {
	rows, err := stmt.QueryContext(ctx, n)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var to int64
		if err := rows.Scan(&to); err != nil {
			return err
		}
		do(to)
	}
	return rows.Err()
}

// graph makes a graph of nodes and of all edges that enter them.
func (x *Index) graph(ctx context.Context, found map[int64]bool) (*lineage.Graph, error) {
	node, err := x.db.PrepareContext(ctx, "SELECT id, EXISTS (SELECT 1 FROM run WHERE run.n = node.n) FROM node WHERE n = ?")
	if err != nil {
		return nil, err
	}
	defer node.Close()
	links, err := x.db.PrepareContext(ctx, `SELECT id, artifact, role, time, uri, link.name, version, digest
		FROM link JOIN node ON node.n = link.source WHERE run = ?`)
	if err != nil {
		return nil, err
	}
	defer links.Close()
	uses, err := x.db.PrepareContext(ctx, `SELECT id, min(artifact), role, max(time), uri, link.name, version, digest
		FROM link JOIN node ON node.n = link.run WHERE source = ? GROUP BY role, uri, link.name, version, digest ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer uses.Close()
	var runs []tracker.RunID
	var edges []tracker.Edge
	for n := range found {
		var id string
		var isRun bool
		if err := node.QueryRowContext(ctx, n).Scan(&id, &isRun); err != nil {
			return nil, err
		}
		stmt := uses
		if isRun {
			stmt = links
			runs = append(runs, tracker.RunID(id))
		}
		touching, err := edgesOf(ctx, stmt, n)
		if err != nil {
			return nil, err
		}
		for _, e := range touching {
			if isRun {
				e.To = tracker.RunID(id)
			} else {
				e.To, e.From, e.Source.ID = e.From, tracker.RunID(id), tracker.RunID(id)
			}
			edges = append(edges, e)
		}
	}
	return lineage.New(runs, edges), nil
}

// edgesOf reads the links that a statement yields for n; From is the id at the other end.
func edgesOf(ctx context.Context, stmt *sql.Stmt, n int64) ([]tracker.Edge, error) {
	rows, err := stmt.QueryContext(ctx, n)
	if err != nil {
		return nil, err
	}
	sources, err := readSources(rows)
	edges := make([]tracker.Edge, len(sources))
	for i, s := range sources {
		edges[i] = tracker.Edge{From: s.ID, Source: s}
	}
	return edges, err
}

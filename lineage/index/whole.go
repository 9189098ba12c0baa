package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/heirloom-ml/heirloom/lineage"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Run is one run as FileTracker.Run reads it, with all its children. One that the index does not have is
// store.ErrNotExist.
func (x *Index) Run(ctx context.Context, id tracker.RunID) (*tracker.Run, error) {
	n, err := x.place(ctx, string(id))
	var runs []*tracker.Run
	if err == nil {
		runs, err = x.family(ctx, []int64{n}, x.opts.Now())
	}
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && len(runs) == 0:
		return nil, &store.Error{Op: "read run", Key: string(id), Kind: store.ErrNotExist}
	case err != nil:
		return nil, fmt.Errorf("ask index for a run: %w", err)
	}
	return runs[0], nil
}

// Has says whether id is a run or something that a run used.
func (x *Index) Has(ctx context.Context, id string) (bool, error) {
	_, err := x.place(ctx, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("ask index for a node: %w", err)
	}
	return true, nil
}

// RunIDs lists all runs, sorted.
func (x *Index) RunIDs(ctx context.Context) ([]tracker.RunID, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id FROM node JOIN run ON run.n = node.n ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	defer rows.Close()
	var ids []tracker.RunID
	for rows.Next() {
		var id tracker.RunID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("ask index for runs: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	return ids, nil
}

// Graph is the whole graph, as lineage.Load would make it. It takes time and memory in proportion to the links of the
// root; Near is for questions about one node.
func (x *Index) Graph(ctx context.Context) (*lineage.Graph, error) {
	ids, err := x.RunIDs(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := x.db.QueryContext(ctx, `SELECT user.id, source.id, artifact, role, time, uri, link.name, version, digest
		FROM link JOIN node source ON source.n = link.source JOIN node user ON user.n = link.run`)
	if err != nil {
		return nil, fmt.Errorf("ask index for lineage: %w", err)
	}
	edges, err := readEdges(rows)
	if err != nil {
		return nil, fmt.Errorf("ask index for lineage: %w", err)
	}
	g, err := x.withMade(ctx, lineage.New(ids, edges), nil)
	if err != nil {
		return nil, fmt.Errorf("ask index for lineage: %w", err)
	}
	return g, nil
}

// readEdges reads rows of links with the ids at both ends, who used it first, and closes them.
func readEdges(rows *sql.Rows) ([]tracker.Edge, error) {
	defer rows.Close()
	var edges []tracker.Edge
	for rows.Next() {
		var e tracker.Edge
		var at sql.NullInt64
		s := &e.Source
		if err := rows.Scan(&e.To, &s.ID, &s.Artifact, &s.Role, &at, &s.URI, &s.Name, &s.Version, &s.Digest); err != nil {
			return nil, err
		}
		if at.Valid {
			s.Time = unixNano(at.Int64)
		}
		e.From = s.ID
		edges = append(edges, e)
	}
	return edges, rows.Err()
}

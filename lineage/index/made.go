package index

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/heirloom-ml/heirloom/lineage"
)

// An artifact with the path by which others know an input is that input: so it leads from who used it to the run that
// wrote there, whatever tool recorded either. These list such pairs, by the inputs in ?1 or by the runs in ?1, a JSON
// array each, and all.
const (
	madeAbove = "SELECT artifact.run AS run, artifact.name AS artifact, input.n AS input" +
		" FROM json_each(?1) AS level CROSS JOIN node AS input ON input.n = level.value CROSS JOIN artifact ON artifact.path = input.id" + notRun
	madeBelow = "SELECT artifact.run AS run, artifact.name AS artifact, input.n AS input" +
		" FROM json_each(?1) AS level CROSS JOIN artifact ON artifact.run = level.value CROSS JOIN node AS input ON input.id = artifact.path" + notRun
	madePairs = "SELECT artifact.run AS run, artifact.name AS artifact, input.n AS input" +
		" FROM artifact JOIN node AS input ON input.id = artifact.path" + notRun

	notRun = " WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.n = input.n)"
)

// withMade adds the edges from runs among the found nodes to inputs among them; found may be nil, for all.
func (x *Index) withMade(ctx context.Context, g *lineage.Graph, found *set) (*lineage.Graph, error) {
	pairs, args := madePairs, []any{}
	m := maker{}
	if found != nil {
		level, err := json.Marshal(found.list)
		if err != nil {
			return nil, err
		}
		pairs, args, m.found = madeAbove, []any{string(level)}, found.has
	}
	err := m.read(x.db.QueryContext(ctx, "SELECT pair.run, maker.id, pair.artifact, input.id FROM ("+pairs+`) AS pair
		JOIN node AS maker ON maker.n = pair.run JOIN node AS input ON input.n = pair.input`, args...))
	if err != nil {
		return nil, err
	}
	return m.add(g), nil
}

// maker gathers what was made by the found nodes.
type maker struct {
	found map[int64]bool // nil = all
	made  []lineage.Made
}

// read takes rows as the query in withMade has them, and closes them.
func (m *maker) read(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var made lineage.Made
		if err := rows.Scan(&n, &made.Run, &made.Artifact, &made.Input.ID); err != nil {
			return err
		}
		if m.found == nil || m.found[n] {
			m.made = append(m.made, made)
		}
	}
	return rows.Err()
}

// add puts what was made into a graph.
func (m *maker) add(g *lineage.Graph) *lineage.Graph {
	if len(m.made) == 0 {
		return g
	}
	return g.WithMade(m.made)
}

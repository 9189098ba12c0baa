package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/lineage"
)

// maxMakers is how many of the runs that made the same bytes count as their source: the earliest.
const maxMakers = 10

// SameBytes lists the uses that no link tells but digests do: where a run used as an input, under whatever name, the bytes
// that another had made by then. Each is an edge from the maker, with the name of its artifact, of the role
// lineage.RoleContent. up lists those by the given runs, else those of what the given runs made. The empty file counts
// for nothing. The order is by user, then by start of the maker.
func (x *Index) SameBytes(ctx context.Context, runs []string, up bool) ([]lineage.Edge, error) {
	list, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	given := "artifact.run"
	if up {
		given = "link.run"
	}
	nothing := sha256.Sum256(nil)
	rows, err := x.db.QueryContext(ctx, `SELECT maker.id, user.id, artifact.name, link.time, artifact.sha256
		FROM link JOIN artifact ON artifact.sha256 = link.digest JOIN run ON run.n = artifact.run
			JOIN node AS maker ON maker.n = artifact.run JOIN node AS user ON user.n = link.run
		WHERE `+given+` IN (SELECT n FROM node WHERE id IN (SELECT value FROM json_each(?)))
			AND link.digest <> '' AND link.name = '' AND link.digest <> ? AND link.run <> artifact.run
			AND (run.started IS NULL OR link.time IS NULL OR run.started <= link.time)
		ORDER BY user.id, artifact.sha256, run.started NULLS LAST, maker.id, artifact.name`, string(list), hex.EncodeToString(nothing[:]))
	if err != nil {
		return nil, fmt.Errorf("ask index for contents: %w", err)
	}
	defer rows.Close()
	edges, err := readUses(rows)
	if err != nil {
		return nil, fmt.Errorf("ask index for contents: %w", err)
	}
	return edges, nil
}

// readUses reads rows of uses that are sorted by user and digest, and drops those of too many makers.
func readUses(rows *sql.Rows) ([]lineage.Edge, error) {
	var edges []lineage.Edge
	var of [2]string
	makers := 0
	for rows.Next() {
		e := lineage.Edge{Role: lineage.RoleContent}
		var at sql.NullInt64
		var digest string
		if err := rows.Scan(&e.From, &e.To, &e.Artifact, &at, &digest); err != nil {
			return nil, err
		}
		if at.Valid {
			e.Time = time.Unix(0, at.Int64).UTC()
		}
		if is := [2]string{e.To, digest}; is != of {
			of, makers = is, 0
		}
		if makers++; makers <= maxMakers {
			edges = append(edges, e)
		}
	}
	return edges, rows.Err()
}

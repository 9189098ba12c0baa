package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// between reads the links of runs to nodes that have a name in ids.
func (x *Index) between(ctx context.Context, ids map[int64]tracker.RunID, runs []int64) ([]tracker.Edge, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT link.run, link.source, artifact, role, time, "+description+
		" FROM json_each(?) AS found CROSS JOIN link ON link.run = found.value", array(runs))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var edges []tracker.Edge
	for rows.Next() {
		var run, source int64
		var at sql.NullInt64
		var s tracker.Source
		var told sql.RawBytes
		if err := rows.Scan(&run, &source, &s.Artifact, &s.Role, &at, &told); err != nil {
			return nil, err
		}
		if err := describe(&s, told); err != nil {
			return nil, err
		}
		from, near := ids[source]
		if !near {
			continue
		}
		if at.Valid {
			s.Time = unixNano(at.Int64)
		}
		s.ID = from
		edges = append(edges, tracker.Edge{From: from, To: ids[run], Source: s})
	}
	return edges, rows.Err()
}

// description is the columns that describe what was used, as one, which is NULL for most links: each column of a row takes
// time. The lengths of all but the last stand before them.
const description = `CASE WHEN uri <> '' OR name <> '' OR version <> '' OR digest <> ''
	THEN octet_length(uri) || ' ' || octet_length(name) || ' ' || octet_length(version) || ' ' || uri || name || version || digest END`

// describe reads a description.
func describe(s *tracker.Source, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	parts := strings.SplitN(string(text), " ", 4)
	rest := parts[len(parts)-1]
	for i, into := range []*string{&s.URI, &s.Name, &s.Version} {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n > len(rest) || len(parts) < 4 {
			return fmt.Errorf("description of a link %q: %w", text, store.ErrCorrupt)
		}
		*into, rest = rest[:n], rest[n:]
	}
	s.Digest = rest
	return nil
}

// teller asks what links say of inputs.
type teller struct{ first, next *sql.Stmt }

func (x *Index) teller(ctx context.Context) (t teller, err error) {
	const what = `SELECT role, uri, link.name, version, digest, artifact, node.id
		FROM link JOIN node ON node.n = link.run WHERE source = ?1 `
	const order = ` ORDER BY role, uri, link.name, version, digest LIMIT 1`
	if t.first, err = x.db.PrepareContext(ctx, what+order); err != nil {
		return t, err
	}
	if t.next, err = x.db.PrepareContext(ctx, what+"AND (role, uri, link.name, version, digest) > (?2, ?3, ?4, ?5, ?6)"+order); err != nil {
		t.first.Close()
	}
	return t, err
}

func (t teller) close() {
	t.first.Close()
	t.next.Close()
}

// told yields, for each thing that links say of an input, one link that says it, without its time. However many there
// are, only those are looked at.
func (t teller) told(ctx context.Context, n int64, id tracker.RunID) ([]tracker.Edge, error) {
	ask, args := t.first, []any{n}
	var edges []tracker.Edge
	for {
		e := tracker.Edge{From: id, Source: tracker.Source{ID: id}}
		s := &e.Source
		err := ask.QueryRowContext(ctx, args...).Scan(&s.Role, &s.URI, &s.Name, &s.Version, &s.Digest, &s.Artifact, &e.To)
		if errors.Is(err, sql.ErrNoRows) {
			return edges, nil
		}
		if err != nil {
			return nil, err
		}
		edges = append(edges, e)
		ask, args = t.next, []any{n, string(s.Role), s.URI, s.Name, s.Version, s.Digest}
	}
}

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

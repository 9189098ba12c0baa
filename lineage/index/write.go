package index

import (
	"context"
	"database/sql"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// writer puts runs into the tables within one transaction.
type writer struct {
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
	nodes map[string]int64 // ids that were looked up
	keys  map[string]int64
}

func newWriter(tx *sql.Tx) *writer {
	return &writer{tx: tx, stmts: map[string]*sql.Stmt{}, nodes: map[string]int64{}, keys: map[string]int64{}}
}

// exec runs a statement, prepared once.
func (w *writer) exec(ctx context.Context, query string, args ...any) error {
	stmt, err := w.prepared(ctx, query)
	if err == nil {
		_, err = stmt.ExecContext(ctx, args...)
	}
	return err
}

func (w *writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := w.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.tx.PrepareContext(ctx, query)
	if err == nil {
		w.stmts[query] = stmt
	}
	return stmt, err
}

// number finds or gives the number of a name in one of the two tables of names.
func (w *writer) number(ctx context.Context, known map[string]int64, query, name string) (int64, error) {
	if n, ok := known[name]; ok {
		return n, nil
	}
	stmt, err := w.prepared(ctx, query)
	if err != nil {
		return 0, err
	}
	var n int64
	if err := stmt.QueryRowContext(ctx, name).Scan(&n); err != nil {
		return 0, err
	}
	known[name] = n
	return n, nil
}

func (w *writer) node(ctx context.Context, id string) (int64, error) {
	return w.number(ctx, w.nodes, "INSERT INTO node (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET id = id RETURNING n", id)
}

func (w *writer) key(ctx context.Context, name string) (int64, error) {
	return w.number(ctx, w.keys, "INSERT INTO metakey (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING k", name)
}

// put replaces all that is kept of a run.
func (w *writer) put(ctx context.Context, run *tracker.Run, print tracker.Print, settled bool) error {
	n, err := w.node(ctx, string(run.ID))
	if err != nil {
		return err
	}
	body, err := encode(run)
	if err != nil {
		return err
	}
	if err := w.remove(ctx, n); err != nil {
		return err
	}
	err = w.exec(ctx, `INSERT INTO run (n, dir, print, settled, name, command, state, lost_at, started, ended, attempts, warnings, inputs)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n, run.ID.Encode(), print[:], settled, filter.Run{Run: run}.Name(), filter.Run{Run: run}.Command(), string(lasting(run)), lostAt(run),
		nanos(run.Started), nanos(run.Ended), len(run.Attempts), len(run.Warnings), len(run.Sources))
	if err == nil {
		err = w.exec(ctx, "INSERT INTO record (run, body) VALUES (?, ?)", n, body)
	}
	if err == nil {
		err = w.putMetadata(ctx, n, run)
	}
	if err == nil {
		err = w.putArtifacts(ctx, n, run)
	}
	if err == nil {
		err = w.putLinks(ctx, n, run)
	}
	return err
}

// remove forgets a run. Its node stays: others may have used it.
func (w *writer) remove(ctx context.Context, n int64) error {
	for _, query := range []string{
		"DELETE FROM link WHERE run = ?", "DELETE FROM artifact WHERE run = ?", "DELETE FROM meta WHERE run = ?",
		"DELETE FROM record WHERE run = ?", "DELETE FROM run WHERE n = ?",
	} {
		if err := w.exec(ctx, query, n); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putMetadata(ctx context.Context, n int64, run *tracker.Run) error {
	for name, raw := range run.Metadata.All() {
		if raw == nil {
			continue // null has no value
		}
		k, err := w.key(ctx, name)
		if err != nil {
			return err
		}
		v := filter.NewValue(raw)
		var number any
		if v.IsNumber {
			number = v.Number
		}
		if err := w.exec(ctx, "INSERT INTO meta (run, k, text, number) VALUES (?, ?, ?, ?)", n, k, v.Text, number); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putArtifacts(ctx context.Context, n int64, run *tracker.Run) error {
	for _, a := range run.Artifacts {
		var size any
		if bytes, ok := a.SizeBytes(); ok {
			size = bytes
		}
		err := w.exec(ctx, "INSERT OR REPLACE INTO artifact (run, name, path, kind, sha256, size_bytes) VALUES (?, ?, ?, ?, ?, ?)",
			n, a.Name, a.Path, orNull(a.Kind()), orNull(a.SHA256()), size)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putLinks(ctx context.Context, n int64, run *tracker.Run) error {
	for _, s := range run.Sources {
		source, err := w.node(ctx, string(s.ID))
		if err != nil {
			return err
		}
		err = w.exec(ctx, "INSERT INTO link (run, source, artifact, role, time, uri, name, version, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			n, source, s.Artifact, string(s.Role), nanos(s.Time), s.URI, s.Name, s.Version, s.Digest)
		if err != nil {
			return err
		}
	}
	return nil
}

// lasting is the state of a run without regard to time.
func lasting(run *tracker.Run) tracker.State {
	if run.State == tracker.Lost {
		return tracker.Running
	}
	return run.State
}

// lostAt is when a running run becomes lost unless it gives another sign of life.
func lostAt(run *tracker.Run) any {
	if len(run.Attempts) == 0 {
		return nil
	}
	last := run.Attempts[len(run.Attempts)-1]
	limit := last.Start.LostAfter
	if limit == 0 {
		limit = tracker.LostAfter
	}
	if last.End != nil || limit < 0 {
		return nil
	}
	return last.Seen().Add(limit).UnixNano()
}

func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

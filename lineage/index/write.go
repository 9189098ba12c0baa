package index

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/tracker"
)

// writer puts runs into the tables within one transaction. What it was given last stands there after flush. Its statements
// say OR ROLLBACK where they can: one that fails ends the transaction, so that SQLite need not note what it would undo.
type writer struct {
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
	nodes map[string]int64 // ids that were looked up
	keys  map[string]int64

	metadata, artifacts, links *heap
}

func newWriter(tx *sql.Tx) *writer {
	return &writer{
		tx: tx, stmts: map[string]*sql.Stmt{}, nodes: map[string]int64{}, keys: map[string]int64{},
		metadata:  newHeap("INSERT OR ROLLBACK INTO meta (run, k, type, text, number)"),
		artifacts: newHeap("INSERT OR REPLACE INTO artifact (run, name, path, kind, sha256, size_bytes, key)"),
		links:     newHeap("INSERT OR ROLLBACK INTO link (run, source, artifact, role, time, uri, name, version, digest)"),
	}
}

// flush writes what is heaped up.
func (w *writer) flush(ctx context.Context) error {
	for _, h := range []*heap{w.metadata, w.artifacts, w.links} {
		if err := h.flush(ctx, w); err != nil {
			return err
		}
	}
	return nil
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
func (w *writer) number(ctx context.Context, known map[string]int64, find, give, name string) (int64, error) {
	if n, ok := known[name]; ok {
		return n, nil
	}
	for _, query := range []string{find, give} {
		stmt, err := w.prepared(ctx, query)
		if err != nil {
			return 0, err
		}
		var n int64
		err = stmt.QueryRowContext(ctx, name).Scan(&n)
		if err == nil {
			known[name] = n
			return n, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
	}
	return 0, sql.ErrNoRows
}

func (w *writer) node(ctx context.Context, id string) (int64, error) {
	return w.number(ctx, w.nodes, "SELECT n FROM node WHERE id = ?", "INSERT INTO node (id) VALUES (?) RETURNING n", id)
}

func (w *writer) key(ctx context.Context, name string) (int64, error) {
	return w.number(ctx, w.keys, "SELECT k FROM metakey WHERE name = ?", "INSERT INTO metakey (name) VALUES (?) RETURNING k", name)
}

// row is a run with what is kept of it.
type row struct {
	run     *tracker.Run
	body    []byte // as encode wrote it
	brief   string // as brief wrote it
	print   tracker.Print
	settled bool
}

// put replaces all that is kept of a run.
func (w *writer) put(ctx context.Context, r row) error {
	run := r.run
	n, err := w.node(ctx, string(run.ID))
	if err != nil {
		return err
	}
	if err := w.replace(ctx, n); err != nil {
		return err
	}
	err = w.exec(ctx, `INSERT OR ROLLBACK INTO run (n, dir, print, settled, name, command, state, lost_at, started, ended, attempts, warnings, inputs)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n, run.ID.Encode(), r.print[:], r.settled, filter.Run{Run: run}.Name(), filter.Run{Run: run}.Command(), string(lasting(run)), lostAt(run),
		nanos(run.Started), nanos(run.Ended), len(run.Attempts), len(run.Warnings), len(run.Sources))
	if err == nil {
		err = w.exec(ctx, "INSERT OR ROLLBACK INTO record (run, brief, body) VALUES (?, ?, ?)", n, r.brief, r.body)
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

// replace forgets a run if it is there.
func (w *writer) replace(ctx context.Context, n int64) error {
	stmt, err := w.prepared(ctx, "SELECT 1 FROM run WHERE n = ?")
	if err != nil {
		return err
	}
	var there int
	if err := stmt.QueryRowContext(ctx, n).Scan(&there); errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	return w.remove(ctx, n)
}

// remove forgets a run. Its node stays: others may have used it.
func (w *writer) remove(ctx context.Context, n int64) error {
	if err := w.flush(ctx); err != nil {
		return err
	}
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
		if err := w.metadata.add(ctx, w, n, k, TypeName(raw), v.Text, number); err != nil {
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
		if err := w.artifacts.add(ctx, w, n, a.Name, a.Path, orNull(a.Kind()), orNull(a.SHA256()), size, orNull(a.Key())); err != nil {
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
		err = w.links.add(ctx, w, n, source, s.Artifact, string(s.Role), nanos(s.Time), s.URI, s.Name, s.Version, s.Digest)
		if err != nil {
			return err
		}
	}
	return nil
}

// TypeName is what the tables of sql and of the catalog call the type of a piece of metadata, as package pyjson reads it:
// string, bool, float, int of any size, list or object.
func TypeName(raw any) string {
	switch raw.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case float64:
		return "float"
	case []any:
		return "list"
	case *tracker.Metadata:
		return "object"
	}
	return "int"
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

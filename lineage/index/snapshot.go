package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// Snapshot is one state of an index, which does not change while it is read, whoever refreshes the index meanwhile. It
// is not safe for concurrent use. Nothing else may be asked of an index made by Memory until it is closed.
type Snapshot struct {
	tx  *sql.Tx
	now time.Time
}

// Snapshot begins to read. Close it.
func (x *Index) Snapshot(ctx context.Context) (*Snapshot, error) {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return &Snapshot{tx: tx, now: x.opts.Now()}, nil
}

// Close ends the reading. It may be called twice.
func (s *Snapshot) Close() error {
	if err := s.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// Now is the time as of which runs without a sign of life are lost.
func (s *Snapshot) Now() time.Time { return s.now }

// Settings are what the index knows of itself, such as when it was last refreshed, by name. Another index that has the
// same entries may take them over; see Index.Fill.
func (s *Snapshot) Settings(ctx context.Context) (map[string]int64, error) {
	rows, err := s.tx.QueryContext(ctx, "SELECT name, value FROM setting WHERE typeof(value) = 'integer'")
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer rows.Close()
	settings := map[string]int64{}
	for rows.Next() {
		var name string
		var value int64
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		settings[name] = value
	}
	return settings, rows.Err()
}

// AsOf is Index.AsOf among settings.
func AsOf(settings map[string]int64) time.Time {
	n, ok := settings[refreshedSetting]
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Made yields the inputs that a run of the root made: its artifact has the path by which others call the input. They
// come in the order of the run's and the artifact's names. An error is the last thing yielded.
func (s *Snapshot) Made(ctx context.Context) iter.Seq2[tracker.Edge, error] {
	return func(yield func(tracker.Edge, error) bool) {
		rows, err := s.tx.QueryContext(ctx, `SELECT maker.id, artifact.name, input.id
			FROM artifact JOIN node AS input ON input.id = artifact.path JOIN node AS maker ON maker.n = artifact.run
			WHERE artifact.path <> '' AND NOT EXISTS (SELECT 1 FROM run WHERE run.n = input.n) ORDER BY maker.id, artifact.name`)
		if err != nil {
			yield(tracker.Edge{}, fmt.Errorf("read index: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var e tracker.Edge
			if err := rows.Scan(&e.From, &e.Source.Artifact, &e.To); err != nil {
				yield(e, fmt.Errorf("read index: %w", err))
				return
			}
			e.Source.ID = e.From
			if !yield(e, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(tracker.Edge{}, fmt.Errorf("read index: %w", err))
		}
	}
}

// Runs yields the id of every run in bytewise order. An error is the last thing yielded.
func (s *Snapshot) Runs(ctx context.Context) iter.Seq2[tracker.RunID, error] {
	return func(yield func(tracker.RunID, error) bool) {
		rows, err := s.tx.QueryContext(ctx, "SELECT id FROM node JOIN run ON run.n = node.n ORDER BY id")
		if err != nil {
			yield("", fmt.Errorf("read index: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id tracker.RunID
			if err := rows.Scan(&id); err != nil {
				yield("", fmt.Errorf("read index: %w", err))
				return
			}
			if !yield(id, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield("", fmt.Errorf("read index: %w", err))
		}
	}
}

// Digest changes whenever Entries yields something else, which it tells without reading what runs recorded.
func (s *Snapshot) Digest(ctx context.Context) (string, error) {
	rows, err := s.tx.QueryContext(ctx, "SELECT id, print, settled, "+strings.TrimSpace(stateExpr(s.now))+
		" FROM node JOIN run ON run.n = node.n ORDER BY id")
	if err != nil {
		return "", fmt.Errorf("read index: %w", err)
	}
	defer rows.Close()
	sum := sha256.New()
	for rows.Next() {
		var e Entry
		var print []byte
		e.Run = &tracker.Run{}
		if err := rows.Scan(&e.Run.ID, &print, &e.Settled, &e.Run.State); err != nil {
			return "", fmt.Errorf("read index: %w", err)
		}
		copy(e.Print[:], print)
		digest(sum, e)
	}
	return hex.EncodeToString(sum.Sum(nil)), rows.Err()
}

// digest adds what tells an entry from an earlier one of its run.
func digest(sum hash.Hash, e Entry) {
	fmt.Fprintf(sum, "%s\x00%x\x00%v\x00%s\n", e.Run.ID, e.Print, e.Settled, e.Run.State)
}

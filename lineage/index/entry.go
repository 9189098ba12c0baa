package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// EntryVersion is that of the form of Entry.Body and Entry.Sources. A higher one is not understood.
const EntryVersion = 1

// Entry is a run as an index keeps it, with all that it takes to put it into another index of the same root.
type Entry struct {
	Run     *tracker.Run // as Index.Runs tells it, with sources and without children
	LostAt  time.Time    // when it becomes lost unless it gives another sign of life; zero = never
	Print   tracker.Print
	Settled bool   // the print can be trusted; else the next refresh reads the run again
	Body    string // what was read, in the index's own form
	Sources string // the same of the sources
}

// Entries yields every run in bytewise order of its id. An error is the last thing yielded.
func (s *Snapshot) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := s.entries(ctx, yield); err != nil {
			yield(Entry{}, fmt.Errorf("read index: %w", err))
		}
	}
}

func (s *Snapshot) entries(ctx context.Context, yield func(Entry, error) bool) error {
	links, err := s.tx.PrepareContext(ctx, `SELECT id, artifact, role, time, uri, name, version, digest
		FROM link JOIN node ON node.n = link.source WHERE run = ? ORDER BY id, artifact`)
	if err != nil {
		return err
	}
	defer links.Close()
	rows, err := s.tx.QueryContext(ctx, `SELECT node.n, id, print, settled, body
		FROM node JOIN run ON run.n = node.n JOIN record ON record.run = run.n ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := s.entry(ctx, rows, links)
		if err != nil {
			return err
		}
		if !yield(e, nil) {
			return nil
		}
	}
	return rows.Err()
}

// entry reads one row, and the links of its run.
func (s *Snapshot) entry(ctx context.Context, rows *sql.Rows, links *sql.Stmt) (Entry, error) {
	var n int64
	var print, body []byte
	e := Entry{Run: &tracker.Run{}}
	if err := rows.Scan(&n, &e.Run.ID, &print, &e.Settled, &body); err != nil {
		return e, err
	}
	copy(e.Print[:], print)
	e.Body = string(body)
	if err := decode(e.Run, body, s.now); err != nil {
		return e, err
	}
	if at, ok := lostAt(e.Run).(int64); ok {
		e.LostAt = time.Unix(0, at).UTC()
	}
	found, err := links.QueryContext(ctx, n)
	if err != nil {
		return e, err
	}
	if e.Run.Sources, err = readSources(found); err != nil {
		return e, err
	}
	// What is no text does not come through JSON whole: whoever takes the entry reads the run again.
	e.Settled = e.Settled && areTexts(e.Run.Sources)
	e.Sources, err = encodeSources(e.Run.Sources)
	return e, err
}

// sourceRecord is a source as an entry keeps it.
type sourceRecord struct {
	ID       string `json:"i"`
	Artifact string `json:"a,omitempty"`
	Role     string `json:"r,omitempty"`
	Time     int64  `json:"t,omitempty"` // nanoseconds since the Unix epoch; 0 = unknown
	URI      string `json:"u,omitempty"`
	Name     string `json:"n,omitempty"`
	Version  string `json:"v,omitempty"`
	Digest   string `json:"d,omitempty"`
}

func encodeSources(list []tracker.Source) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	kept := make([]sourceRecord, len(list))
	for i, s := range list {
		kept[i] = sourceRecord{ID: string(s.ID), Artifact: s.Artifact, Role: string(s.Role), URI: s.URI, Name: s.Name, Version: s.Version, Digest: s.Digest}
		if !s.Time.IsZero() {
			kept[i].Time = s.Time.UnixNano()
		}
	}
	body, err := json.Marshal(kept)
	return string(body), err
}

func decodeSources(body string) ([]tracker.Source, error) {
	if body == "" {
		return nil, nil
	}
	var kept []sourceRecord
	if err := json.Unmarshal([]byte(body), &kept); err != nil {
		return nil, fmt.Errorf("sources: %w: %w", err, store.ErrCorrupt)
	}
	list := make([]tracker.Source, len(kept))
	for i, s := range kept {
		list[i] = tracker.Source{ID: tracker.RunID(s.ID), Artifact: s.Artifact, Role: tracker.Role(s.Role), URI: s.URI, Name: s.Name, Version: s.Version, Digest: s.Digest}
		if s.Time != 0 {
			list[i].Time = time.Unix(0, s.Time).UTC()
		}
	}
	return list, nil
}

func areTexts(list []tracker.Source) bool {
	for _, s := range list {
		for _, text := range []string{string(s.ID), s.Artifact, string(s.Role), s.URI, s.Name, s.Version, s.Digest} {
			if !utf8.ValidString(text) {
				return false
			}
		}
	}
	return true
}

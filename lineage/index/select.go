package index

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Answer is what a statement yields.
type Answer struct {
	Columns []string // each once
	Rows    [][]any  // int64, float64, string, []byte or nil
}

// longestValue bounds the bytes of one value, so that a statement cannot ask for all memory by one of them.
const longestValue = 64 << 20

// Select answers one statement of SQL over Views. It reads: what would write, attach a file or be more than one statement
// is a *StatementError, as is what SQLite does not understand. The end of ctx ends it.
func (x *Index) Select(ctx context.Context, statement string) (*Answer, error) {
	explain, query, err := checkStatement(statement)
	if err != nil {
		return nil, err
	}
	db := x.db
	if x.file != "" {
		if db, err = connectReader(x.file); err != nil {
			return nil, err
		}
		defer db.Close()
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask index: %w", err)
	}
	defer conn.Close()
	r := &reader{conn: conn, statement: statement, explain: explain}
	if err := r.prepare(ctx, x); err != nil {
		return nil, fmt.Errorf("ask index: %w", err)
	}
	answer, err := r.ask(ctx, query)
	if x.file == "" {
		err = errors.Join(err, r.release(context.WithoutCancel(ctx)))
	}
	return answer, err
}

// connectReader opens an index in a way that cannot change it.
func connectReader(file string) (*sql.DB, error) {
	if err := registerModules(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+
		"?mode=ro&_dqs=0&_pragma=busy_timeout(30000)&_pragma=mmap_size(1073741824)&_pragma=cache_size(-65536)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// reader is a connection on which one statement is asked.
type reader struct {
	conn               *sql.Conn
	statement, explain string // as they were given
}

// prepare makes the views, and then forbids to write and to attach.
func (r *reader) prepare(ctx context.Context, x *Index) error {
	for _, v := range Views(x.opts.Now()) {
		create := v.create()
		if v.body == "" {
			if x.file == "" {
				continue
			}
			create = fmt.Sprintf("CREATE VIRTUAL TABLE temp.%s USING %s(%s)", v.Name, ancestryModule, "x"+hex.EncodeToString([]byte(x.file)))
		}
		if _, err := r.conn.ExecContext(ctx, create); err != nil {
			return err
		}
	}
	for limit, most := range map[int]int{sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: longestValue} {
		if _, err := sqlite.Limit(r.conn, limit, most); err != nil {
			return err
		}
	}
	_, err := r.conn.ExecContext(ctx, "PRAGMA query_only = ON")
	return err
}

// release makes an index that is kept in memory what it was.
func (r *reader) release(ctx context.Context) error {
	undo := "PRAGMA query_only = OFF;"
	for _, v := range Views(time.Time{}) {
		undo += "DROP VIEW IF EXISTS temp." + v.Name + ";"
	}
	_, err := r.conn.ExecContext(ctx, undo)
	return err
}

// whole makes a statement one of which all rows are found before the first is handed out: only till then does SQLite's
// driver heed a context. Its columns have different names.
func whole(explain, query string) string {
	if explain != "" {
		return explain + query
	}
	return "WITH answer AS MATERIALIZED (\n" + query + "\n) SELECT * FROM answer"
}

func (r *reader) ask(ctx context.Context, query string) (*Answer, error) {
	rows, err := r.conn.QueryContext(ctx, whole(r.explain, query))
	if err != nil {
		return nil, r.explainError(ctx, query, err)
	}
	defer rows.Close()
	answer := &Answer{}
	if answer.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		row := make([]any, len(answer.Columns))
		cells := make([]any, len(row))
		for i := range row {
			cells[i] = &row[i]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		answer.Rows = append(answer.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, r.explainError(ctx, query, err)
	}
	return answer, nil
}

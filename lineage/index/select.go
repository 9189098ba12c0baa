package index

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Answer is what a statement yields.
type Answer struct {
	Columns []string // each once
	Rows    [][]any  // int64, float64, string, []byte or nil
}

// AliasRow is a row of the table aliases.
type AliasRow struct {
	Alias, Node  string
	Number       int64
	Time         time.Time
	User, Reason string
}

// longestValue bounds the bytes of one value, so that a statement cannot ask for all memory by one of them.
const longestValue = 64 << 20

// Select answers one statement of SQL over Views, with these rows in the table aliases. It reads: what would write,
// attach a file or be more than one statement is a *StatementError, as is what SQLite does not understand. The end of
// ctx ends it.
func (x *Index) Select(ctx context.Context, statement string, aliases []AliasRow) (*Answer, error) {
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
	if err := r.prepare(ctx, x, aliases); err != nil {
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
func (r *reader) prepare(ctx context.Context, x *Index, aliases []AliasRow) error {
	if _, err := r.conn.ExecContext(ctx, "CREATE TEMP TABLE alias_row (alias, node_id, run_id, artifact, number, time, user, reason)"); err != nil {
		return err
	}
	for _, a := range aliases {
		run, artifact, err := r.runOf(ctx, a.Node)
		if err != nil {
			return err
		}
		if _, err := r.conn.ExecContext(ctx, "INSERT INTO alias_row VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			a.Alias, a.Node, orNull(run), orNull(artifact), a.Number, nanos(a.Time), orNull(a.User), orNull(a.Reason)); err != nil {
			return err
		}
	}
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

// runOf splits RUN or RUN#ARTIFACT; run is "" if it is an input.
func (r *reader) runOf(ctx context.Context, node string) (run, artifact string, err error) {
	for end := len(node); end > 0; end = strings.LastIndexByte(node[:end], '#') {
		var n int64
		err := r.conn.QueryRowContext(ctx, "SELECT run.n FROM node JOIN run ON run.n = node.n WHERE node.id = ?", node[:end]).Scan(&n)
		if err == nil {
			return node[:end], strings.TrimPrefix(node[end:], "#"), nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return "", "", err
		}
	}
	return "", "", nil
}

// release makes an index that is kept in memory what it was.
func (r *reader) release(ctx context.Context) error {
	undo := "PRAGMA query_only = OFF; DROP TABLE alias_row;"
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

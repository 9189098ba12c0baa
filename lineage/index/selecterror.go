package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/heirloom-ml/heirloom/store/pattern"
)

// What SQLite says of a name or a place in a statement.
var (
	nearError = pattern.Lazy(`near "((?:[^"]|"")+)": syntax error`)
	nameError = pattern.Lazy(`no such (table|column|function): (\S+)`)
	sayings   = pattern.Lazy(`^(SQL logic error|[a-z -]+): (.*?)( \(\d+\))?$`)
)

// explainError makes what SQLite says of a statement an error that shows the place and a way out.
func (r *reader) explainError(ctx context.Context, query string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code := sqliteCode(err)
	message := err.Error()
	if m := sayings().FindStringSubmatch(message); m != nil {
		message = m[2]
	}
	failed := &StatementError{Statement: r.statement, Offset: -1, Reason: message}
	switch code {
	case sqlite3.SQLITE_READONLY:
		failed.Reason = fmt.Sprintf(readsOnly, "to write")
		return failed
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
	default:
		return fmt.Errorf("ask index: %w", err)
	}
	if m := nearError().FindStringSubmatch(message); m != nil {
		failed.Offset = r.place(ctx, query, strings.ReplaceAll(m[1], `""`, `"`), m[0])
		if word := strings.ToUpper(m[1]); slices.Contains(writing[:5], word) {
			failed.Reason = fmt.Sprintf(readsOnly, word)
		} else if failed.Offset < 0 {
			failed.Reason = "the statement is not complete"
		}
		return failed
	}
	if m := nameError().FindStringSubmatch(message); m != nil {
		failed.Offset = r.named(m[2])
		failed.Reason += wayOut(m[1], m[2])
		return failed
	}
	if strings.Contains(message, "incomplete input") {
		failed.Offset, failed.Reason = len(strings.TrimRight(r.statement, " \t\r\n;")), "the statement is not complete"
	}
	return failed
}

// place is where in the statement as given the text stands at which SQLite stops: the first at which what stands before
// makes it say the same. It is -1 if that is what was put around the statement.
func (r *reader) place(ctx context.Context, query, text, message string) int {
	base := strings.Index(r.statement, query)
	for _, t := range sqlTokens(query) {
		if query[t.at:t.end] != text {
			continue
		}
		_, err := r.conn.ExecContext(ctx, "EXPLAIN "+whole(r.explain, query[:t.end]))
		if err != nil && strings.Contains(err.Error(), message) && !strings.HasPrefix(text, ")") {
			return base + t.at
		}
	}
	return -1
}

// named is where a name stands in the statement, -1 if it does not.
func (r *reader) named(name string) int {
	_, last, qualified := strings.Cut(name, ".")
	for _, t := range sqlTokens(r.statement) {
		word := strings.Trim(r.statement[t.at:t.end], "\"`[]")
		if strings.HasPrefix(r.statement[t.at:], name) || strings.EqualFold(word, name) || qualified && strings.EqualFold(word, last) {
			return t.at
		}
	}
	return -1
}

// wayOut says what there is instead.
func wayOut(what, name string) string {
	views := Views(time.Time{})
	var tables, columns []string
	for _, v := range views {
		tables = append(tables, v.Name)
		for _, c := range v.Columns {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	switch {
	case what == "table" && strings.EqualFold(name, "ancestry"):
		return "; it needs an index on disk, and there is no place for one in the user's cache"
	case what == "table":
		return "; there are " + strings.Join(tables, ", ")
	case what == "column":
		_, last, qualified := strings.Cut(name, ".")
		if !qualified {
			last = name
		}
		if strings.HasPrefix(name, "params.") || strings.HasPrefix(name, "metrics.") || strings.HasPrefix(name, "tags.") {
			return fmt.Sprintf("; it is a key of the table metadata: … WHERE key = '%s'", name)
		}
		for _, v := range views {
			for _, c := range v.Columns {
				if strings.EqualFold(c.Name, last) {
					return fmt.Sprintf("; the table %s has it", v.Name)
				}
			}
		}
		return "; heirloom sql --schema lists them all (a text stands in single quotes)"
	}
	return ""
}

package index

import (
	"context"
	"database/sql"
	"net/url"

	sqlite3 "modernc.org/sqlite/lib"
)

// lock waits until no other process refreshes the same file. It is a transaction on an empty database beside it, which
// the system ends with its process. Where there can be none, nobody is waited for: what is lost is work.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	free := func() {}
	if x.file == "" {
		return free, nil
	}
	dsn := "file:" + (&url.URL{Path: x.file + lockSuffix}).EscapedPath() + "?_pragma=busy_timeout(250)&_txlock=exclusive"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return free, nil
	}
	for {
		tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
		switch {
		case err == nil:
			return func() {
				_ = tx.Rollback()
				_ = db.Close()
			}, nil
		case ctx.Err() != nil:
			_ = db.Close()
			return nil, ctx.Err()
		case sqliteCode(err) != sqlite3.SQLITE_BUSY:
			_ = db.Close()
			return free, nil
		}
	}
}

const lockSuffix = ".lock"

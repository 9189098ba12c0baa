package index

import (
	"context"
	"database/sql"
	"net/url"

	sqlite3 "modernc.org/sqlite/lib"
)

// lock waits until no other process refreshes or fills the same file. Where there can be no lock, nobody is waited for:
// what is lost is work.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	if x.file == "" {
		return func() {}, nil
	}
	return lockFile(ctx, x.file+lockSuffix)
}

// lockFile waits for a file that only one process has at a time. It is a transaction on an empty database, which the
// system ends with its process. Where there can be none, it does not wait.
func lockFile(ctx context.Context, file string) (unlock func(), err error) {
	free := func() {}
	dsn := "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=busy_timeout(250)&_txlock=exclusive"
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

const (
	lockSuffix    = ".lock"
	replaceSuffix = ".replace" // of the lock of who replaces a damaged file
)

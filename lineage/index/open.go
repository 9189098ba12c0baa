package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	sqlite "modernc.org/sqlite" // registers itself with database/sql
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// version is that of schema.sql and indexes.sql. A file of another version is made anew.
const version = 5

var (
	//go:embed schema.sql
	schema string
	//go:embed indexes.sql
	indexes string
)

// errForeign is a file that is no index of this version.
var errForeign = errors.New("not an index of this version")

// fileOf is the file of a root, in a directory that is made.
func fileOf(t *tracker.FileTracker, dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no cache directory is known")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return fileName(t, dir), nil
}

// fileName is the file of a root in dir.
func fileName(t *tracker.FileTracker, dir string) string {
	sum := sha256.Sum256([]byte(t.Store().URL()))
	return filepath.Join(dir, hex.EncodeToString(sum[:12])+".sqlite")
}

// asking is how an index is opened to answer questions.
const asking = "&_pragma=temp_store(MEMORY)&_pragma=mmap_size(1073741824)&_pragma=cache_size(-65536)"

// open opens a file and sees that it holds an index of this version, or makes one in an empty file.
func open(ctx context.Context, file string) (*sql.DB, error) {
	db, err := openFile(ctx, file, asking)
	if err == nil {
		return db, nil
	}
	if code := sqliteCode(err); code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB || code == sqlite3.SQLITE_ERROR {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	return nil, err
}

func openFile(ctx context.Context, file, pragmas string) (*sql.DB, error) {
	return connect(ctx, "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=rwc", pragmas)
}

// connect opens a database. The journal beside it lets readers go on while one process writes; what a power failure
// takes can be read again.
func connect(ctx context.Context, dsn, pragmas string) (*sql.DB, error) {
	if err := registerModules(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn+"&_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_txlock=immediate"+pragmas)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// prepare makes the tables in an empty database.
func prepare(ctx context.Context, db *sql.DB) error {
	var found int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return err
	}
	if found == version {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it has nothing to do
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil || found == version {
		return err
	}
	if found != 0 {
		return fmt.Errorf("%w: it is of version %d", errForeign, found)
	}
	if _, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// replace puts an empty index in the place of a file that is none. Of several processes that find it so one does it, and
// the others open what that made. Who still has the old file open goes on with it.
func replace(ctx context.Context, file string) (*sql.DB, error) {
	unlock, err := lockFile(ctx, file+replaceSuffix)
	if err != nil {
		return nil, err
	}
	defer unlock()
	db, err := open(ctx, file)
	if !errors.Is(err, errForeign) {
		return db, err
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return open(ctx, file)
}

// sqliteCode is SQLite's primary code of an error, 0 if it is not SQLite's.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// kindOf classifies what went wrong with the file.
func kindOf(err error) error {
	code := sqliteCode(err)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return nil
	case code == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC):
		return store.ErrNoSpace
	case code == sqlite3.SQLITE_READONLY || code == sqlite3.SQLITE_PERM || errors.Is(err, fs.ErrPermission):
		return store.ErrPermission
	case code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB:
		return store.ErrCorrupt
	}
	return store.ErrUnavailable
}

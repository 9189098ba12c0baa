package index

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"
)

// loading is how an index is opened to write much at once: it is not mapped into memory, since all of it is gone through,
// and what is sorted for indexes.sql does not stay in memory either.
const loading = "&_pragma=temp_store(FILE)&_pragma=mmap_size(0)&_pragma=cache_size(-65536)"

// loader is the same index, opened to write much at once, and what closes it.
func (x *Index) loader(ctx context.Context) (*Index, func(), error) {
	if x.file == "" {
		return x, func() {}, nil
	}
	db, err := openFile(ctx, x.file, loading)
	if err != nil {
		return nil, nil, err
	}
	l := *x
	l.db = db
	return &l, func() { _ = db.Close() }, nil
}

// ensureIndexes makes those of indexes.sql that are lacking.
func (x *Index) ensureIndexes(ctx context.Context) error {
	_, err := x.db.ExecContext(ctx, indexes)
	if code := sqliteCode(err); code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_IOERR { // no place for temporary files
		_, err = x.db.ExecContext(ctx, "PRAGMA temp_store = MEMORY;"+indexes)
	}
	return err
}

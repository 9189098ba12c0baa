package index

import (
	"errors"
	"io/fs"
	"os"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/heirloom-ml/heirloom/tracker"
)

// wroteSuffix ends the name of the file whose time says when this user last wrote to the root.
const wroteSuffix = ".wrote"

// Touch notes that this user has just written to a root, so that no older index of it is taken for up to date. It is
// cheap, and does nothing where dir holds no index of the root.
func Touch(t *tracker.FileTracker, dir string) error {
	if !Exists(t, dir) {
		return nil
	}
	mark, now := fileName(t, dir)+wroteSuffix, time.Now()
	err := os.Chtimes(mark, now, now)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	return os.Chtimes(mark, now, now)
}

// Touched is when this user last wrote to the root, as far as Touch was told; zero = never.
func (x *Index) Touched() time.Time {
	if x.file == "" {
		return time.Time{}
	}
	info, err := os.Stat(x.file + wroteSuffix)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// File is where the index of a root is kept below dir, whether there is one or not; "" where dir is none.
func File(t *tracker.FileTracker, dir string) string {
	if dir == "" {
		return ""
	}
	return fileName(t, dir)
}

// Exists says whether dir holds an index of a root, be it empty.
func Exists(t *tracker.FileTracker, dir string) bool {
	if dir == "" {
		return false
	}
	_, err := os.Stat(fileName(t, dir))
	return err == nil
}

// Remove deletes the index of a root. That there is none is no error.
func Remove(t *tracker.FileTracker, dir string) error {
	if dir == "" {
		return nil
	}
	file := fileName(t, dir)
	var failed error
	for _, suffix := range []string{"-wal", "-shm", wroteSuffix, ""} {
		if err := os.Remove(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// IsFileError says whether err is about the file of an index, and not about the store: what it keeps can be had again
// from the store.
func IsFileError(err error) bool { return sqliteCode(err) != 0 }

// IsDamage says whether err means that the file of an index cannot be used any more.
func IsDamage(err error) bool {
	code := sqliteCode(err)
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

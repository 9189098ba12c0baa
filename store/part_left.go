package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/store/internal/filelock"
)

// LeftParts lists what unfinished downloads have left in the local directory dir,
// with deep also below it, part files and their notes, sorted. What a process is
// at work on is not among them. The same Download goes on from them; who wants
// none may remove them.
func LeftParts(dir string, deep bool) ([]string, error) {
	var left []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !deep:
			return fs.SkipDir
		case d.IsDir() || !isPartName(d.Name()) || !strings.HasSuffix(path, partEnd):
			return nil
		}
		if idle(path) {
			notes := strings.TrimSuffix(path, partEnd) + notesEnd
			if _, err := os.Lstat(notes); err == nil {
				left = append(left, notes)
			}
			left = append(left, path)
		}
		return nil
	})
	return left, err
}

// idle reports whether no process has a part file locked.
func idle(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|sourceFlags, 0)
	if err != nil {
		return errors.Is(err, errors.ErrUnsupported) // where there are no locks either
	}
	defer f.Close() // which gives the lock back
	locked, err := filelock.Try(f)
	return locked && err == nil
}

package tracker

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// checkEmpty finds what no listing of objects shows and only a file system has:
// a run's directory without any object, which TorchX and RunIDs list, as a writer
// leaves that was killed before its first; and directories without any among the
// records, as a repair leaves that was cut off.
func (f *fsck) checkEmpty(ctx context.Context, id RunID) error {
	if f.root.runs[id] == nil {
		return f.checkVacant(ctx, id)
	}
	if _, isLocal := f.t.s.LocalPath(""); !isLocal {
		return nil
	}
	for _, category := range []string{metadataDir, artifactsDir, sourcesDir, descendantsDir} {
		for e, err := range f.t.s.ListDir(ctx, id.dir().Join(category)) {
			if err != nil {
				return err
			}
			if !e.IsDir {
				continue
			}
			some, err := f.holdsObject(ctx, e.Key)
			if err != nil {
				return err
			}
			if !some {
				f.found(RuleRecordNested, id, e.Key, "an empty directory among the records", "remove it", func(ctx context.Context) error {
					return f.asideDir(ctx, e.Key) // where nothing came to lie in it since
				})
			}
		}
	}
	return nil
}

// checkVacant tells of a run's directory in which the scan saw no object, unless
// one has come since or may be about to.
func (f *fsck) checkVacant(ctx context.Context, id RunID) error {
	some, err := f.holdsObject(ctx, id.dir())
	if err != nil || some {
		return err
	}
	for _, err := range f.t.s.ListForeign(ctx, string(id.dir())+"/") {
		return err // an object that marks the directory, which is told of as that
	}
	then, err := f.touched(id.dir())
	if err != nil || f.young(then) {
		return err
	}
	f.found(RuleRunEmpty, id, id.dir(), "the directory of a run of which nothing was recorded: its writer was ended before", "remove it", func(ctx context.Context) error {
		return f.asideDir(ctx, id.dir())
	})
	return nil
}

// touched is when a directory of the disk, or one below it, was last changed; zero
// where the store does not tell.
func (f *fsck) touched(dir store.Key) (last time.Time, err error) {
	path, isLocal := f.t.s.LocalPath(dir)
	if !isLocal {
		return time.Time{}, nil
	}
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return f.now, nil // gone meanwhile
	}
	return last, err
}

// holdsObject says whether an object lies anywhere below dir.
func (f *fsck) holdsObject(ctx context.Context, dir store.Key) (bool, error) {
	for _, err := range f.t.s.List(ctx, string(dir)+"/") {
		return err == nil, err
	}
	return false, nil
}

// removeEmpty removes a directory without objects, and those below it. A store
// does that where the last object goes, and a writer who comes by makes it again.
func (f *fsck) removeEmpty(ctx context.Context, dir store.Key) error {
	below := map[store.Key]bool{}
	if isRunDir(string(dir)) { // HDFS is silent about directories with nothing in them
		for _, name := range []string{metadataDir, artifactsDir, sourcesDir, descendantsDir, heirloomDir} {
			below[dir.Join(name)] = true
		}
	}
	for e, err := range f.t.s.ListDir(ctx, dir) {
		if err != nil {
			return err
		}
		if e.IsDir {
			below[e.Key] = true
		}
	}
	for _, sub := range slices.Sorted(maps.Keys(below)) {
		if err := f.removeEmpty(ctx, sub); err != nil {
			return err
		}
	}
	mark := dir.Join("empty")
	if err := f.t.s.Put(ctx, mark, nil); err != nil {
		return err
	}
	return f.t.s.Delete(ctx, mark)
}

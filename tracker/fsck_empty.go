package tracker

import (
	"context"

	"github.com/heirloom-ml/heirloom/store"
)

// checkEmpty finds what no listing of objects shows and only a file system has:
// directories without any among the records of a run. One is left where a repair
// was cut off after it took the last object out.
func (f *fsck) checkEmpty(ctx context.Context, run store.Key) error {
	if _, isLocal := f.t.s.LocalPath(""); !isLocal {
		return nil
	}
	id, err := DecodeRunID(string(run))
	if err != nil {
		return err
	}
	for _, category := range []string{metadataDir, artifactsDir, sourcesDir, descendantsDir} {
		for e, err := range f.t.s.ListDir(ctx, run.Join(category)) {
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

// holdsObject says whether an object lies anywhere below dir.
func (f *fsck) holdsObject(ctx context.Context, dir store.Key) (bool, error) {
	for _, err := range f.t.s.List(ctx, string(dir)+"/") {
		return err == nil, err
	}
	return false, nil
}

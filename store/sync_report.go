package store

import (
	"cmp"
	"slices"
)

// SyncReport says what a pass did.
type SyncReport struct {
	Uploaded  int   // files sent
	Unchanged int   // files that the store held already
	Deleted   int   // objects removed
	Bytes     int64 // of the files sent

	Waiting []SyncFile // files left for a later pass, sorted by path
	Skipped []SyncFile // what is never sent: special files, links, names that no key can have; sorted by path
}

// SyncFile is one that was not sent.
type SyncFile struct {
	Path   string // slash path relative to the directory
	Reason string
}

// add counts a further pass of one Final in, whose last word on files counts.
func (r *SyncReport) add(next SyncReport) {
	r.Uploaded += next.Uploaded
	r.Deleted += next.Deleted
	r.Bytes += next.Bytes
	r.Unchanged = next.Unchanged
	r.Waiting, r.Skipped = next.Waiting, next.Skipped
}

func (r *SyncReport) sort() {
	byPath := func(a, b SyncFile) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(r.Waiting, byPath)
	slices.SortFunc(r.Skipped, byPath)
}

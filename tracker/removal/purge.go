package removal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// deletesAtOnce is how many objects are deleted side by side.
const deletesAtOnce = 16

// file is an object as a purge will delete it: in that version alone.
type file struct {
	Key     store.Key `json:"key"`
	Size    int64     `json:"size"`
	Version string    `json:"version"`
}

func newFile(o store.Object) file { return file{Key: o.Key, Size: o.Size, Version: o.Version} }

// filesRecord is what a purge will delete, in that order.
type filesRecord struct {
	First   []file      `json:"first"`   // of the output, one after the other
	Output  []file      `json:"output"`  // the rest of it
	Records []file      `json:"records"` // below the tracker's root
	Mirrors []store.Key `json:"mirrors"` // likewise, in the directories of the run's sources
}

// PurgeOptions change how a run is purged. The zero value is fine.
type PurgeOptions struct {
	User string
	// First are keys of output that go before all other, such as the files without which no reader takes a checkpoint for
	// whole.
	First []store.Key
}

// Gone says what a purge deleted.
type Gone struct {
	Entry
	Left int // objects that were written while it was purged, and stay
}

// Purge deletes a run for good: its output, what TorchX knows of it in its sources, and its records. Whether its time
// has come is for the caller to know. While it is at work heirloom's readers do not see the run, and TorchX's find
// KeyDeleted in its metadata. The error has kind store.ErrNotExist for a run that is not deleted, store.ErrConflict for one that
// was written to since it was, or is being restored. Called again after a crash it goes on.
func (l *Ledger) Purge(ctx context.Context, run tracker.RunID, opts PurgeOptions) (Gone, error) {
	e, err := l.Last(ctx, run)
	if err != nil {
		return Gone{}, err
	}
	if e.Done {
		return Gone{Entry: e}, over("purge run", e)
	}
	if e.Outcome == Pending {
		if err := l.condemn(ctx, &e, opts); err != nil {
			return Gone{Entry: e}, err
		}
	}
	if e.Outcome == Restored {
		return Gone{Entry: e}, failure("purge run", run, store.ErrConflict, "it is being restored since %s", e.Decided.Format(time.RFC3339))
	}
	left, err := l.carryOut(ctx, &e)
	return Gone{Entry: e, Left: left}, err
}

// condemn decides that the run goes, if it is still what it was when it was deleted.
func (l *Ledger) condemn(ctx context.Context, e *Entry, opts PurgeOptions) error {
	marks, err := l.t.Hidden(ctx, e.Run)
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		return failure("purge run", e.Run, store.ErrConflict, "its deletion was begun and never ended: delete it again")
	}
	s, err := l.snap(ctx, e.Run)
	if err != nil {
		return err
	}
	if s.print() != e.print {
		return failure("purge run", e.Run, store.ErrConflict,
			"it was written to since it was deleted on %s: restore it, or delete it again", e.Time.Format(time.RFC3339))
	}
	body, err := json.Marshal(s.files(e.Run, opts.First))
	if err != nil {
		return err
	}
	// The same bytes, whoever else is at it: the run is as it was.
	if err := l.s.Put(ctx, l.key(e.Run, e.Number, filesName), append(body, '\n')); err != nil {
		return err
	}
	return l.decide(ctx, e, Purged, opts.User)
}

// files says what goes, in which order.
func (s *snapshot) files(run tracker.RunID, first []store.Key) filesRecord {
	r := filesRecord{First: []file{}, Output: []file{}, Records: []file{}, Mirrors: s.mirrors(run)}
	for _, o := range s.output {
		if slices.Contains(first, o.Key) {
			r.First = append(r.First, newFile(o))
		} else {
			r.Output = append(r.Output, newFile(o))
		}
	}
	for _, o := range s.records {
		r.Records = append(r.Records, newFile(o))
	}
	return r
}

// carryOut deletes what was condemned, and says how many objects are there that were not.
func (l *Ledger) carryOut(ctx context.Context, e *Entry) (left int, err error) {
	marks, err := l.t.Hidden(ctx, e.Run)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(marks, e.Number) { // nothing is left but to say so
		return 0, l.finish(ctx, e)
	}
	stone, err := l.putStone(ctx, e)
	if err != nil {
		return 0, err
	}
	if err := l.empty(ctx, e); err != nil {
		return 0, fmt.Errorf("purge run %s: %w; what was begun, the next purge ends", e.Run, err)
	}
	s, err := l.snap(ctx, e.Run)
	if err != nil {
		return 0, err
	}
	if err := removeAll(ctx, l.t.Store(), keysOf(s.derived)); err != nil {
		return 0, err
	}
	s.records = slices.DeleteFunc(s.records, func(o store.Object) bool { return o.Key == stone })
	if err := gone(l.t.Store().Delete(ctx, stone)); err != nil {
		return 0, err
	}
	if err := l.unhide(ctx, *e); err != nil {
		return 0, err
	}
	if err := l.finish(ctx, e); err != nil {
		return 0, err
	}
	return len(s.records) + len(s.output), l.announce(ctx, e.Run)
}

// putStone writes the record of metadata that tells TorchX's readers, which know no marks, what goes on.
func (l *Ledger) putStone(ctx context.Context, e *Entry) (store.Key, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", e.Run, e.Number))
	name := fmt.Sprintf("%019d-%s", e.Time.UnixNano(), hex.EncodeToString(sum[:8])) // the same when it is done again
	key := store.Key(e.Run.Encode()).Join(metadataDir, name)
	said := pyjson.NewObject(pyjson.Member{Key: tracker.KeyDeleted, Value: e.Time.UTC().Format(time.RFC3339Nano)})
	body, err := pyjson.Marshal(pyjson.NewObject(pyjson.Member{Key: "metadata", Value: said}))
	if err != nil {
		return "", err
	}
	return key, l.t.Store().Put(ctx, key, body)
}

// empty deletes the files of a run that are still what they were.
func (l *Ledger) empty(ctx context.Context, e *Entry) error {
	var r filesRecord
	if ok, err := l.load(ctx, l.key(e.Run, e.Number, filesName), &r); err != nil || !ok {
		return err
	}
	s, err := l.snap(ctx, e.Run)
	if err != nil {
		return err
	}
	records, output := versions(s.records), versions(s.output)
	for _, f := range r.First {
		if output[f.Key] == f {
			if err := gone(l.s.Delete(ctx, f.Key)); err != nil {
				return err
			}
		}
	}
	if err := removeAll(ctx, l.s, unchanged(r.Output, output)); err != nil {
		return err
	}
	if err := removeAll(ctx, l.t.Store(), r.Mirrors); err != nil {
		return err
	}
	return removeAll(ctx, l.t.Store(), unchanged(r.Records, records))
}

// unchanged are the keys of those files that are there in the same version.
func unchanged(files []file, now map[store.Key]file) []store.Key {
	var keys []store.Key
	for _, f := range files {
		if now[f.Key] == f {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

func keysOf(objects []store.Object) []store.Key {
	keys := make([]store.Key, len(objects))
	for i, o := range objects {
		keys[i] = o.Key
	}
	return keys
}

// removeAll deletes several objects side by side. What is gone already is no error.
func removeAll(ctx context.Context, s *store.Store, keys []store.Key) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletesAtOnce)
	for _, key := range keys {
		group.Go(func() error { return gone(s.Delete(ctx, key)) })
	}
	return group.Wait()
}

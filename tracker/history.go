package tracker

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// History gives every value that a key of the metadata has had, the oldest
// first, with the time of each: the last one counts. It makes the requests of
// Metadata.
func (t *FileTracker) History(ctx context.Context, run RunID, key string) ([]Change, error) {
	var changes []Change
	err := t.eachRecord(ctx, run, func(written time.Time, record *pyjson.Object) {
		changes = append(changes, historyOf(record, key)...)
		v, _ := record.Get("metadata")
		if m, ok := v.(*Metadata); ok {
			if value, ok := m.Get(key); ok {
				changes = append(changes, Change{Time: written, Value: value})
			}
		}
	})
	return changes, err
}

// Series gives the metrics that the job itself recorded, in the order of their
// steps. What it wrote to a file of metrics is an artifact; see ReadMetrics. It
// makes the requests of Metadata.
func (t *FileTracker) Series(ctx context.Context, run RunID) (Series, error) {
	series := make(Series)
	err := t.eachRecord(ctx, run, func(_ time.Time, record *pyjson.Object) { addSeries(series, record) })
	series.Sort()
	return series, err
}

// eachRecord reads the metadata of a run in order, with the time in the name of
// each record.
func (t *FileTracker) eachRecord(ctx context.Context, run RunID, do func(time.Time, *pyjson.Object)) error {
	l, err := t.list(ctx, run, metadataDir)
	if err != nil {
		return readError(run, err)
	}
	b, err := t.read(ctx, recordKeys(l.metadata))
	if err != nil {
		return readError(run, err)
	}
	slices.SortFunc(l.metadata, compareRecords)
	for _, r := range l.metadata {
		if record, ok := take(l, b, r.key, RuleRecordDamaged, pyjson.UnmarshalObject); ok {
			do(r.time(), record)
		}
	}
	t.warnAll(l.sortedWarnings())
	return nil
}

// time is what the name says, zero if that is none.
func (r record) time() time.Time {
	ns, err := strconv.ParseInt(r.digits, 10, 64)
	if err != nil || ns <= 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

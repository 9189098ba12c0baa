package tracker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Change is one value that a key of the metadata had.
type Change struct {
	Time  time.Time
	Value any
}

// Batch is what one record may hold beside metadata. TorchX reads the metadata.
type Batch struct {
	Metadata *Metadata           // the last values
	History  map[string][]Change // values before the last, by key, in order
	Series   Series              // points of metrics
}

// AddBatch writes one record with all of b, in one request. Secrets are redacted
// as by AddMetadata.
func (t *FileTracker) AddBatch(ctx context.Context, run RunID, b Batch) error {
	body, err := b.body()
	if err == nil {
		err = t.putRecord(ctx, run, metadataDir, body)
	}
	if err != nil {
		return fmt.Errorf("add metadata to %s: %w", printable(string(run)), err)
	}
	return nil
}

const (
	seriesKey  = "series"
	historyKey = "history"
)

// body is {"metadata": {…}, "series": {"loss": [[step, ns, value], …]},
// "history": {"lr": [[ns, value], …]}}, without the parts that are empty. A time
// that is unknown is 0.
func (b Batch) body() ([]byte, error) {
	m := b.Metadata
	if m == nil {
		m = &Metadata{}
	}
	o := pyjson.NewObject(pyjson.Member{Key: "metadata", Value: redactKnown(m)})
	if len(b.Series) > 0 {
		series := &pyjson.Object{}
		for _, name := range slices.Sorted(maps.Keys(b.Series)) {
			rows := make([]any, len(b.Series[name]))
			for i, p := range b.Series[name] {
				rows[i] = []any{p.Step, nanos(p.Time), p.Value}
			}
			series.Set(name, rows)
		}
		o.Set(seriesKey, series)
	}
	if len(b.History) > 0 {
		history := &pyjson.Object{}
		for _, key := range slices.Sorted(maps.Keys(b.History)) {
			rows := make([]any, len(b.History[key]))
			for i, c := range b.History[key] {
				rows[i] = []any{nanos(c.Time), c.Value}
			}
			history.Set(key, rows)
		}
		o.Set(historyKey, history)
	}
	return pyjson.Marshal(o)
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(v any) time.Time {
	ns, _ := v.(int64)
	if ns <= 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// addSeries adds the points of one record; rows of another shape are passed over.
func addSeries(to Series, record *pyjson.Object) {
	v, _ := record.Get(seriesKey)
	all, ok := v.(*pyjson.Object)
	if !ok {
		return
	}
	for name, v := range all.All() {
		rows, _ := v.([]any)
		for _, row := range rows {
			if cells, ok := row.([]any); ok && len(cells) == 3 {
				step, _ := cells[0].(int64)
				to.Add(name, Point{Step: step, Time: timeOf(cells[1]), Value: cells[2]})
			}
		}
	}
}

// historyOf are the values that one record gives to key before its last.
func historyOf(record *pyjson.Object, key string) []Change {
	v, _ := record.Get(historyKey)
	all, ok := v.(*pyjson.Object)
	if !ok {
		return nil
	}
	list, _ := all.Get(key)
	rows, _ := list.([]any)
	var changes []Change
	for _, row := range rows {
		if cells, ok := row.([]any); ok && len(cells) == 2 {
			changes = append(changes, Change{Time: timeOf(cells[0]), Value: cells[1]})
		}
	}
	return changes
}

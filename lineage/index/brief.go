package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/heirloom-ml/heirloom/tracker"
)

// brief is what Brief tells of a run's metadata, "" if that is nothing.
func brief(run *tracker.Run) (string, error) {
	var some tracker.Metadata
	for key, value := range run.Metadata.All() {
		if key == tracker.KeyName || strings.HasPrefix(key, tracker.PrefixMetrics) {
			some.Set(key, value)
		}
	}
	if some.Len() == 0 {
		return "", nil
	}
	return text(&some)
}

// Brief is an index that tells of runs what pictures and lists of nodes show, in a part of the time.
type Brief struct{ *Index }

// Records reads state, start and end of the runs of these ids, of the metadata the name and the metrics, and nothing else;
// but all of runs of which something could not be read, but for their children. Those that the root does not record are
// left out.
func (b Brief) Records(ctx context.Context, ids []tracker.RunID) (map[tracker.RunID]*tracker.Run, error) {
	runs := make(map[tracker.RunID]*tracker.Run, len(ids))
	var damaged []tracker.RunID
	err := b.rows(ctx, `SELECT node.id, `+stateExpr(b.opts.Now())+`, started, ended, warnings, brief FROM json_each(?) AS asked
		CROSS JOIN node ON node.id = asked.value CROSS JOIN run ON run.n = node.n CROSS JOIN record ON record.run = node.n`, idArray(ids), func(rows *sql.Rows) error {
		run := &tracker.Run{}
		var started, ended sql.NullInt64
		var warnings int
		var body string
		if err := rows.Scan(&run.ID, &run.State, &started, &ended, &warnings, &body); err != nil {
			return err
		}
		if started.Valid {
			run.Started = unixNano(started.Int64)
		}
		if ended.Valid {
			run.Ended = unixNano(ended.Int64)
		}
		if warnings > 0 {
			damaged = append(damaged, run.ID)
		}
		var err error
		run.Metadata, err = object(body)
		runs[run.ID] = run
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask index for runs: %w", err)
	}
	if len(damaged) == 0 {
		return runs, nil
	}
	whole, err := b.Index.Records(ctx, damaged)
	for id, run := range whole {
		runs[id] = run
	}
	return runs, err
}

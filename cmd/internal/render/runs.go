package render

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

// groups are the parts of a run's metadata that stand by themselves in a list of runs.
var groups = []struct{ name, prefix string }{
	{"params", tracker.PrefixParams},
	{"metrics", tracker.PrefixMetrics},
	{"tags", tracker.PrefixTags},
}

// Runs is the list of runs, in the given order. A table shows the name of each, which names it for other commands as
// long as no two are equal, and its chief metrics. JSON holds params, metrics and tags as objects, CSV in a column
// each.
func Runs(runs []*tracker.Run) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "runs", Columns: []Column{
		{Name: "run", In: human},
		{Name: "id", In: machine},
		{Name: "name", In: machine},
		{Name: "state"},
		{Name: "started"},
		{Name: "ended", In: machine},
		{Name: "duration", In: human, Right: true},
		{Name: "duration_seconds", In: machine},
		{Name: "metrics", In: human},
		{Name: "user"},
		{Name: "project", In: machine},
		{Name: "experiment", In: machine},
		{Name: "host", In: machine},
		{Name: "exit_code", In: machine},
	}}
	short := shortNames(runs)
	for _, r := range runs {
		l.Rows = append(l.Rows, []any{
			short[r.ID], r.ID, name(r), r.State, r.Started, r.Ended, duration(r), seconds(r),
			strings.Join(facts(r.Metadata), "  "), text(r, tracker.KeyUser), text(r, tracker.KeyProject),
			text(r, tracker.KeyExperiment), text(r, tracker.KeyHost), exitCode(r),
		})
	}
	l.addGroups(runs)
	return l
}

// addGroups adds params, metrics and tags: an object each for JSON, a column for each key for CSV.
func (l *List) addGroups(runs []*tracker.Run) {
	for _, g := range groups {
		l.Columns = append(l.Columns, Column{Name: g.name, In: []Format{JSON, JSONL}})
		keys := map[string]bool{}
		for i, r := range runs {
			members := group(r.Metadata, g.prefix)
			l.Rows[i] = append(l.Rows[i], members)
			for key := range members.All() {
				keys[key] = true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			l.Columns = append(l.Columns, Column{Name: g.prefix + key, In: []Format{CSV}})
			for i, r := range runs {
				v, _ := r.Metadata.Get(g.prefix + key)
				l.Rows[i] = append(l.Rows[i], v)
			}
		}
	}
}

// shortNames gives the last part of each id, or the whole id where two of them end alike.
func shortNames(runs []*tracker.Run) map[tracker.RunID]string {
	ids := make([]tracker.RunID, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return shortIDs(ids)
}

// shortIDs is shortNames of ids, of which some may be there more than once.
func shortIDs(ids []tracker.RunID) map[tracker.RunID]string {
	first := map[string]tracker.RunID{}
	short := map[tracker.RunID]string{}
	for _, id := range ids {
		short[id] = id.Name()
		other, taken := first[id.Name()]
		if !taken {
			first[id.Name()] = id
		} else if other != id {
			short[id], short[other] = string(id), string(other)
		}
	}
	return short
}

// name is what the user called a run, else the last part of its id.
func name(r *tracker.Run) string {
	if given := r.Metadata.Text(tracker.KeyName); given != "" {
		return given
	}
	return r.ID.Name()
}

// text is a string of the metadata, nil if there is none.
func text(r *tracker.Run, key string) any {
	if v := r.Metadata.Text(key); v != "" {
		return v
	}
	return nil
}

// duration is how long a run took, nil while it is not known.
func duration(r *tracker.Run) any {
	if r.Started.IsZero() || r.Ended.IsZero() {
		return nil
	}
	return r.Ended.Sub(r.Started)
}

func seconds(r *tracker.Run) any {
	if d, ok := duration(r).(time.Duration); ok {
		return d.Seconds()
	}
	return nil
}

// exitCode is that of the last attempt, nil if that has not ended or was ended by a signal.
func exitCode(r *tracker.Run) any {
	if n := len(r.Attempts); n > 0 {
		end := r.Attempts[n-1].End
		if end == nil || end.ExitCode == nil {
			return nil // the metadata may still tell of the attempt before
		}
		return *end.ExitCode
	}
	v, _ := r.Metadata.Get(tracker.KeyExitCode)
	return v
}

// signal is the one that ended the last attempt, nil if none did.
func signal(r *tracker.Run) any {
	if n := len(r.Attempts); n > 0 {
		end := r.Attempts[n-1].End
		if end == nil || end.Signal == "" {
			return nil
		}
		return end.Signal
	}
	return text(r, tracker.KeySignal)
}

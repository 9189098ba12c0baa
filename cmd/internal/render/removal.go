package render

import (
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The steps of a deletion.
const (
	StepHidden   Step = "hidden"   // it can be restored
	StepRestored Step = "restored" // it is shown again
	StepPurged   Step = "purged"   // it is gone
)

// Removal is a run that is, or was, to go.
type Removal struct {
	Run     tracker.RunID
	Number  int // of its deletions, from 1; 0 = none yet
	Step    Step
	Why     string // what keeps it
	Objects int    // records and output
	Bytes   int64
	Deleted time.Time
	By      string
	Reason  string
	Until   time.Time // when it may be purged; zero = that is over
	Decided time.Time // when it was restored or purged
	Decider string
}

// Removals tells what becomes of runs, or became.
func Removals(list []Removal) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "runs", Columns: []Column{
		{Name: "run", In: human}, {Name: "id", In: machine}, {Name: "number", In: machine}, {Name: "step"},
		{Name: "objects", Right: true}, {Name: "size", Right: true, In: human}, {Name: "bytes", In: machine},
		{Name: "deleted"}, {Name: "by"}, {Name: "reason"}, {Name: "until"},
		{Name: "decided", In: machine}, {Name: "decided_by", In: machine}, {Name: "why"},
	}}
	ids := make([]tracker.RunID, len(list))
	for i, r := range list {
		ids[i] = r.Run
	}
	short := shortIDs(ids)
	for _, r := range list {
		l.Rows = append(l.Rows, []any{
			short[r.Run], r.Run, r.Number, string(r.Step), r.Objects, Size(r.Bytes), r.Bytes,
			r.Deleted, orNil(r.By), orNil(r.Reason), r.Until, r.Decided, orNil(r.Decider), orNil(r.Why),
		})
	}
	return l
}

// AddDryRun says whether nothing was done, as a member of the list's JSON document.
func (l *List) AddDryRun(dryRun bool) {
	l.Also = append(l.Also, pyjson.Member{Key: "dry_run", Value: dryRun})
}

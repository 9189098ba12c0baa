package openlineage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Options say how runs are written as events. The zero value will do.
type Options struct {
	Namespace string // of jobs; "" = DefaultNamespace
	Producer  string // a URI of the code that writes, at its version; "" = that of heirloom
	Workspace string // the host of the Databricks workspace, for datasets on DBFS; "" = not told
	// Lookup reads a run that another one names: its job, and where its artifacts lie. Nil, or a nil answer, is unknown:
	// then the other's events may name both differently.
	Lookup func(tracker.RunID) *tracker.Run
	// Table tells of a dataset with this fingerprint, nil where it is not known. Nil = never.
	Table func(fingerprint string) *Table
}

// Table is what a dataset holds, in all its splits.
type Table struct {
	Fields             []Field
	Rows, Bytes, Files int64
}

// Field is a column.
type Field struct {
	Name, Type string
	Fields     []Field // of a nested one
}

// Events are what is to be told of a run: START, and COMPLETE, FAIL or ABORT if it has ended, RUNNING if not. A run of
// which no state is known, such as TorchX records, has one event OTHER. The last one tells all. Its time is that of the
// last sign of life; where nothing tells a time it is the Unix epoch.
func Events(run *tracker.Run, o Options) []*Event {
	w := writer{o}
	full := w.event(run)
	last := seen(run)
	full.Type, full.Time = Other, timestamp(last)
	if run.Started.IsZero() {
		if kind := ending[run.State]; kind != "" {
			full.Type = kind
		}
		return []*Event{full}
	}
	full.Type = cmp.Or(ending[run.State], Running)
	start := *full
	start.Type, start.Time, start.Outputs = Start, timestamp(run.Started), []Dataset{}
	start.Run.Facets = without(full.Run.Facets, errorMessage.key, runFacet)
	w.setOwn(start.Run.Facets, runFacet, member("id", string(run.ID)), member("started", moment(run.Started)), member("sources", sources(run.Sources)))
	return []*Event{&start, full}
}

// ending is the type of the event at the end of a run.
var ending = map[tracker.State]string{tracker.Succeeded: Complete, tracker.Failed: Fail, tracker.Cancelled: Abort}

// seen is when a run was last known to be as it is.
func seen(run *tracker.Run) time.Time {
	last := run.Ended
	if last.IsZero() {
		last = run.Started
		for _, a := range run.Attempts {
			last = later(last, a.Seen())
		}
	}
	if last.IsZero() {
		for _, s := range run.Sources {
			last = later(last, s.Time)
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// without is a copy of an object that lacks some keys.
func without(o *pyjson.Object, keys ...string) *pyjson.Object {
	c := o.Clone()
	for _, key := range keys {
		c.Delete(key)
	}
	return c
}

// event tells all that is known of a run; type and time are for the caller to say.
func (w writer) event(run *tracker.Run) *Event {
	e := &Event{Producer: w.producer(), SchemaURL: SchemaURL, Run: Run{ID: UUID(run.ID)}, Inputs: []Dataset{}, Outputs: []Dataset{}}
	e.Job.Namespace, e.Job.Name = w.job(run.ID, run)
	for _, s := range run.Sources {
		if d, ok := w.input(s); ok {
			e.Inputs = append(e.Inputs, d)
		}
	}
	e.Inputs = distinct(e.Inputs)
	for _, a := range run.Artifacts {
		e.Outputs = append(e.Outputs, w.output(run.ID, a))
	}
	e.Run.Facets = w.runFacets(run)
	e.Job.Facets = w.jobFacets(run, e)
	return e
}

// distinct keeps the first of datasets with one name.
func distinct(list []Dataset) []Dataset {
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(list, func(d Dataset) bool {
		key := [2]string{d.Namespace, d.Name}
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// job names what a run executes: the name that was given to the run, within its project, or what its id begins with.
// run is nil where only the id is known.
func (w writer) job(id tracker.RunID, run *tracker.Run) (namespace, name string) {
	namespace = jobNamespace(w.Namespace)
	if theirs, _, ok := foreign(id); ok {
		namespace = cmp.Or(theirs, namespace)
	}
	if run != nil {
		if theirs := run.Metadata.Text(keyJobNamespace); theirs != "" {
			namespace = theirs
		}
		name = run.Metadata.Text(tracker.KeyName)
		if project := run.Metadata.Text(tracker.KeyProject); project != "" && name != "" {
			name = project + "." + name
		}
		name = cmp.Or(run.Metadata.Text(keyJobName), name)
	}
	if name == "" {
		name = id.Name()
		if dash := strings.LastIndexByte(name, '-'); dash > 0 {
			name = name[:dash]
		}
	}
	return namespace, name
}

func (w writer) lookup(id tracker.RunID) *tracker.Run {
	if w.Lookup == nil {
		return nil
	}
	return w.Lookup(id)
}

package openlineage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Keys of the metadata of runs and artifacts that events make.
const (
	keyJobNamespace     = "openlineage.job.namespace"
	keyJobName          = "openlineage.job.name"
	keyProducer         = "openlineage.producer"
	keyDatasetNamespace = "openlineage.namespace"
	keyDatasetName      = "openlineage.name"

	prefixRunFacet     = "openlineage.run.facets."
	prefixJobFacet     = "openlineage.job.facets."
	prefixInputFacets  = "openlineage.input."
	prefixDatasetFacet = "openlineage.facets."
	prefixOutputFacet  = "openlineage.output_facets."
)

// told is an event as it is kept: its canonical form and what that says.
type told struct {
	*Event
	digest store.Digest
	body   []byte
}

// compareTold is the order in which events count: by time, those of a time by the digests of what they say.
func compareTold(a, b told) int {
	return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.digest, b.digest))
}

// facts are what the events of a run add up to. They depend on which events there are, not on the order in which they
// came.
type facts struct {
	id        tracker.RunID
	metadata  *pyjson.Object
	sources   []tracker.Source
	artifacts []tracker.Artifact
}

// fold adds up events of one run.
func fold(id tracker.RunID, events []told) (*facts, error) {
	slices.SortFunc(events, compareTold)
	f := &folder{facts: facts{id: id, metadata: &pyjson.Object{}}, linked: map[tracker.Source]bool{}, made: map[string]*tracker.Artifact{}}
	for _, e := range events {
		add := f.add
		if facetText(e.Run.Facets, runFacet, "id") == string(id) {
			add = f.own
		}
		if err := add(e.Event); err != nil {
			return nil, err
		}
	}
	f.finish(events)
	return &f.facts, nil
}

// folder is facts in the making.
type folder struct {
	facts
	linked map[tracker.Source]bool
	made   map[string]*tracker.Artifact
}

func (f *folder) add(e *Event) error {
	f.metadata.Set(keyJobNamespace, e.Job.Namespace)
	f.metadata.Set(keyJobName, e.Job.Name)
	f.metadata.Set(tracker.KeyName, e.Job.Name)
	f.metadata.Set(keyProducer, e.Producer)
	f.keep(f.metadata, prefixRunFacet, e.Run.Facets)
	f.keep(f.metadata, prefixJobFacet, e.Job.Facets)
	for _, d := range e.Inputs {
		if err := f.input(d); err != nil {
			return err
		}
	}
	for _, d := range e.Outputs {
		if err := f.output(d); err != nil {
			return err
		}
	}
	if err := f.parent(facetOf(e.Run.Facets, parentRun.key)); err != nil {
		return err
	}
	return f.explicit(e)
}

// keep takes facets over, each under a key of its own; heirloom's own are read, not kept.
func (f *folder) keep(to *pyjson.Object, prefix string, facets Facets) {
	for key, v := range facets.All() {
		if key != runFacet && key != inputFacet && key != madeFacet && v != nil {
			to.Set(prefix+key, v)
		}
	}
}

// link adds a link, once. None leads from a run to itself.
func (f *folder) link(s tracker.Source) {
	s.Time = time.Time{}
	if s.ID != f.id {
		f.linkAt(s)
	}
}

// linkAt is link that keeps the time.
func (f *folder) linkAt(s tracker.Source) {
	key := tracker.Source{ID: s.ID, Artifact: s.Artifact}
	if f.linked[key] {
		return
	}
	f.linked[key] = true
	f.sources = append(f.sources, s)
}

// input records what the run read, with the facets that tell of it.
func (f *folder) input(d Dataset) error {
	s, err := d.source()
	if err != nil {
		return err
	}
	s.Version, s.Digest = "", "" // one link has one body, whichever event comes first; they stay among the facets
	f.link(s)
	about := &pyjson.Object{}
	key := prefixInputFacets + string(s.ID)
	if known, ok := f.metadata.Get(key); ok {
		about = known.(*pyjson.Object).Clone() // it was set below
	}
	f.keep(about, "", d.Facets)
	f.keep(about, "", d.InputFacets)
	if about.Len() > 0 {
		f.metadata.Set(key, about)
	}
	return nil
}

// output records what the run wrote as an artifact whose path is what others know the dataset by.
func (f *folder) output(d Dataset) error {
	s, err := d.source()
	if err != nil {
		return err
	}
	name := strings.TrimSpace(string(s.ID))
	a := f.made[name]
	if a == nil {
		a = &tracker.Artifact{Name: name, Path: string(s.ID), Metadata: pyjson.NewObject(
			member(keyDatasetNamespace, d.Namespace), member(keyDatasetName, d.Name), member(tracker.KeyKind, tracker.KindDataset))}
		f.made[name] = a
	}
	f.keep(a.Metadata, prefixDatasetFacet, d.Facets)
	f.keep(a.Metadata, prefixOutputFacet, d.OutputFacets)
	stats := facetOf(d.OutputFacets, outputStatistics.key)
	for _, count := range [][2]string{{"size", tracker.KeySizeBytes}, {"rowCount", "rows"}, {"fileCount", "files"}} {
		if v, ok := stats.Get(count[0]); ok && v != nil {
			a.Metadata.Set(count[1], v)
		}
	}
	return nil
}

// parent links the run that started this one.
func (f *folder) parent(facet *pyjson.Object) error {
	id, namespace := facetOf(facet, "run").Text("runId"), facetOf(facet, "job").Text("namespace")
	if id == "" || namespace == "" {
		return nil
	}
	uuid, err := parseUUID(id)
	if err != nil {
		return invalid("facet parent: " + err.Error())
	}
	f.link(tracker.Source{ID: RunID(namespace, uuid), Role: tracker.RoleParent})
	return nil
}

// explicit takes the inputs of the lineage facet that are not among those of the event: datasets, and runs of jobs.
func (f *folder) explicit(e *Event) error {
	entries, _ := facetOf(e.Job.Facets, "lineage").Get("entries")
	list, _ := entries.([]any)
	for _, entry := range list {
		o, _ := entry.(*pyjson.Object)
		inputs, _ := o.Get("inputs")
		sources, _ := inputs.([]any)
		for _, source := range sources {
			if s, ok := source.(*pyjson.Object); ok {
				if err := f.explicitInput(e, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *folder) explicitInput(e *Event, o *pyjson.Object) error {
	namespace, name := o.Text("namespace"), o.Text("name")
	switch {
	case o.Text("type") == "DATASET" && namespace != "" && name != "":
		s, err := Dataset{Namespace: namespace, Name: name}.source()
		if err != nil {
			return err
		}
		f.link(s)
	case o.Text("type") == "JOB" && o.Text("runId") != "":
		uuid, err := parseUUID(o.Text("runId"))
		if err != nil {
			return invalid("facet lineage: " + err.Error())
		}
		if uuid != e.Run.ID {
			f.link(tracker.Source{ID: RunID(cmp.Or(namespace, e.Job.Namespace), uuid)})
		}
	}
	return nil
}

// state is what the types of events say of a run.
var state = map[string]tracker.State{Complete: tracker.Succeeded, Fail: tracker.Failed, Abort: tracker.Cancelled}

// finish says when the run started and how it ended: as the last of the events that end it says.
func (f *folder) finish(events []told) {
	var started, ended time.Time
	is := tracker.Unknown
	for _, e := range events {
		switch at := e.at(); {
		case e.Type == Start || e.Type == Running:
			if started.IsZero() {
				started = at
			}
			if !is.Terminal() {
				is = tracker.Running
			}
		case state[e.Type] != "":
			is, ended = state[e.Type], at
		}
	}
	if is != tracker.Unknown {
		f.metadata.Set(tracker.KeyState, string(is))
	}
	if !started.IsZero() {
		f.metadata.Set(tracker.KeyStarted, moment(started))
	}
	if !ended.IsZero() {
		f.metadata.Set(tracker.KeyEnded, moment(ended))
	}
	for _, name := range sortedNames(f.made) {
		f.artifacts = append(f.artifacts, *f.made[name])
	}
}

func sortedNames(made map[string]*tracker.Artifact) []string {
	var names []string
	for name := range made {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

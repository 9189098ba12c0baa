package openlineage

import (
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// own takes what heirloom itself wrote into an event; its standard parts say the same to others. The event at the start
// has the links alone.
func (f *folder) own(e *Event) error {
	facet := facetOf(e.Run.Facets, runFacet)
	m, _ := facet.Get("metadata")
	if metadata, ok := m.(*pyjson.Object); ok {
		f.metadata = metadata.Clone()
	}
	for _, s := range readSources(facet) {
		if _, err := tracker.ParseRunID(string(s.ID)); err != nil {
			return invalid("facet " + runFacet + ": " + err.Error())
		}
		f.linkAt(s)
	}
	for _, a := range readArtifacts(e.Outputs) {
		if a.Name == "" {
			return invalid("facet " + madeFacet + " has no name")
		}
		f.made[a.Name] = &a
	}
	return nil
}

// readSources is the other way round of sources.
func readSources(facet *pyjson.Object) []tracker.Source {
	v, _ := facet.Get("sources")
	list, _ := v.([]any)
	var all []tracker.Source
	for _, v := range list {
		o, _ := v.(*pyjson.Object)
		s := tracker.Source{
			ID: tracker.RunID(o.Text("id")), Artifact: o.Text("artifact"), Role: tracker.Role(o.Text("role")),
			URI: o.Text("uri"), Name: o.Text("name"), Version: o.Text("version"), Digest: o.Text("digest"), Time: parseTime(o.Text("time")),
		}
		all = append(all, s)
	}
	return all
}

func readArtifacts(outputs []Dataset) []tracker.Artifact {
	var all []tracker.Artifact
	for _, d := range outputs {
		facet := facetOf(d.Facets, madeFacet)
		if facet == nil {
			continue
		}
		a := tracker.Artifact{Name: facet.Text("name"), Path: facet.Text("path")}
		if m, ok := facet.Get("metadata"); ok {
			a.Metadata, _ = m.(*pyjson.Object)
		}
		all = append(all, a)
	}
	return all
}

// runOf is the run that an event tells of: heirloom's own by its id, any other by namespace and UUID.
func runOf(e *Event) (tracker.RunID, error) {
	if text := facetText(e.Run.Facets, runFacet, "id"); text != "" {
		id, err := tracker.ParseRunID(text)
		if err != nil {
			return "", invalid("facet " + runFacet + ": " + err.Error())
		}
		if UUID(id) == e.Run.ID {
			return id, nil
		}
	}
	return RunID(e.Job.Namespace, e.Run.ID), nil
}

// parseTime is the zero time for anything that is not RFC 3339.
func parseTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t.UTC()
}

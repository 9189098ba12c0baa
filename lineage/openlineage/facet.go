package openlineage

import (
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// The names of heirloom's own facets.
const (
	runFacet   = "heirloom_run"   // of a run: its id and all that was recorded
	inputFacet = "heirloom_input" // of an input dataset: digest, artifact
	madeFacet  = "heirloom_made"  // of an output dataset: the artifact as recorded
)

const (
	facetBase = "https://openlineage.io/spec/facets/"
	ownBase   = "https://github.com/heirloom-ml/heirloom/blob/main/docs/openlineage.md"
)

// kind is a facet of the standard: its key, the version of its schema, and the schema's name.
type kind struct{ key, version, schema string }

// The facets that are written.
var (
	processingEngine = kind{"processing_engine", "1-1-1", "ProcessingEngineRunFacet"}
	parentRun        = kind{"parent", "1-2-0", "ParentRunFacet"}
	errorMessage     = kind{"errorMessage", "1-0-1", "ErrorMessageRunFacet"}
	parameters       = kind{"executionParameters", "1-0-0", "ExecutionParametersRunFacet"}
	runTags          = kind{"tags", "1-0-0", "TagsRunFacet"}
	jobType          = kind{"jobType", "2-0-4", "JobTypeJobFacet"}
	codeLocation     = kind{"sourceCodeLocation", "1-1-0", "SourceCodeLocationJobFacet"}
	datasetVersion   = kind{"version", "1-0-1", "DatasetVersionDatasetFacet"}
	datasetType      = kind{"datasetType", "1-0-1", "DatasetTypeDatasetFacet"}
	dataSource       = kind{"dataSource", "1-0-1", "DatasourceDatasetFacet"}
	tableSchema      = kind{"schema", "1-2-0", "SchemaDatasetFacet"}
	outputStatistics = kind{"outputStatistics", "1-0-2", "OutputStatisticsOutputDatasetFacet"}
)

// writer makes facets.
type writer struct{ Options }

// set adds a facet of the standard with these members.
func (w writer) set(to *pyjson.Object, k kind, members ...pyjson.Member) {
	w.add(to, k.key, facetBase+k.version+"/"+k.schema+".json#/$defs/"+k.schema, members)
}

// setOwn adds a facet of heirloom's.
func (w writer) setOwn(to *pyjson.Object, key string, members ...pyjson.Member) {
	w.add(to, key, ownBase+"#"+key, members)
}

func (w writer) add(to *pyjson.Object, key, schema string, members []pyjson.Member) {
	facet := pyjson.NewObject(pyjson.Member{Key: "_producer", Value: w.producer()}, pyjson.Member{Key: "_schemaURL", Value: schema})
	for _, m := range members {
		if m.Value != nil && m.Value != "" {
			facet.Set(m.Key, m.Value)
		}
	}
	to.Set(key, facet)
}

// producer is the code that writes the events.
func (w writer) producer() string {
	if w.Producer != "" {
		return w.Producer
	}
	return "https://github.com/heirloom-ml/heirloom"
}

// facetOf is a facet, empty if there is none.
func facetOf(f Facets, key string) *pyjson.Object {
	v, _ := f.Get(key)
	o, _ := v.(*pyjson.Object)
	return o
}

func facetText(f Facets, key, member string) string { return facetOf(f, key).Text(member) }

// orNil is nil for an empty object, which is then left out.
func orNil(o *pyjson.Object) *pyjson.Object {
	if o.Len() == 0 {
		return nil
	}
	return o
}

// number is a count that an artifact tells, nil if it does not.
func number(a tracker.Artifact, key string) any {
	if v, ok := a.Metadata.Get(key); ok {
		if n, ok := v.(int64); ok && n >= 0 {
			return n
		}
	}
	return nil
}

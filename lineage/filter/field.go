package filter

import (
	"slices"
	"strings"
)

// Entity is what a field belongs to.
type Entity string

// The entities.
const (
	Params     Entity = "params"
	Metrics    Entity = "metrics"
	Tags       Entity = "tags"
	Metadata   Entity = "metadata"   // any key of a run's metadata
	Attributes Entity = "attributes" // what heirloom knows of a run
	Artifacts  Entity = "artifacts"  // of the run, each
	Parents    Entity = "parents"    // all it used, runs and inputs, each
	Datasets   Entity = "datasets"   // inputs known by name, each
)

// Field names what a comparison looks at.
type Field struct {
	Entity Entity
	Name   string // canonical: aliases are resolved
}

// Key is the metadata key of a param, metric, tag or other metadata, and "" for the rest.
func (f Field) Key() string {
	switch f.Entity {
	case Params, Metrics, Tags:
		return string(f.Entity) + "." + f.Name
	case Metadata:
		return f.Name
	}
	return ""
}

// Type is how the values of a field compare.
func (f Field) Type() Type {
	if f.Entity == Metrics {
		return Number
	}
	for _, p := range properties(f.Entity) {
		if p.name == f.Name {
			return p.kind
		}
	}
	return Any
}

// Type is a kind of value.
type Type int

// The types. Any compares as the literal says.
const (
	Any Type = iota
	Text
	Number
	Time
)

// entityNames maps every spelling of an entity to it.
var entityNames = map[string]Entity{
	"params": Params, "param": Params, "parameter": Params, "parameters": Params,
	"metrics": Metrics, "metric": Metrics,
	"tags": Tags, "tag": Tags,
	"metadata":   Metadata,
	"attributes": Attributes, "attribute": Attributes, "attr": Attributes, "run": Attributes,
	"artifacts": Artifacts, "artifact": Artifacts,
	"parents": Parents, "parent": Parents, "sources": Parents, "source": Parents,
	"datasets": Datasets, "dataset": Datasets,
}

// property is a field with a fixed name.
type property struct {
	name    string
	kind    Type
	aliases []string
}

// properties lists the fixed fields of an entity; nil where names are free.
func properties(e Entity) []property {
	switch e {
	case Attributes:
		return []property{
			{"id", Text, []string{"run_id"}},
			{"name", Text, []string{"run_name"}},
			{"state", Text, []string{"status"}},
			{"started", Time, []string{"start_time", "created"}},
			{"ended", Time, []string{"end_time"}},
			{"duration_seconds", Number, []string{"duration"}},
			{"exit_code", Number, nil},
			{"signal", Text, nil},
			{"attempts", Number, nil},
			{"user", Text, []string{"user_id"}},
			{"host", Text, nil},
			{"project", Text, nil},
			{"experiment", Text, []string{"experiment_id", "experiment_name"}},
			{"command", Text, nil},
			{"output_dir", Text, []string{"artifact_uri"}},
			{"git_commit", Text, nil},
			{"git_branch", Text, nil},
			{AliasField, Text, []string{"aliases"}},
		}
	case Artifacts:
		return []property{
			{"name", Text, nil},
			{"path", Text, []string{"uri"}},
			{"kind", Text, nil},
			{"sha256", Text, []string{"digest"}},
			{"size_bytes", Number, []string{"size"}},
		}
	case Parents:
		return []property{
			{"id", Text, []string{"run_id"}},
			{"artifact", Text, nil},
			{"role", Text, nil},
		}
	case Datasets:
		return []property{
			{"name", Text, nil},
			{"version", Text, nil},
			{"digest", Text, nil},
			{"uri", Text, []string{"path"}},
		}
	}
	return nil
}

// canonical resolves aliases. It reports false where the entity has no such field.
func canonical(e Entity, name string) (string, bool) {
	fixed := properties(e)
	if fixed == nil {
		return name, true
	}
	lower := strings.ToLower(name)
	for _, p := range fixed {
		if p.name == lower || slices.Contains(p.aliases, lower) {
			return p.name, true
		}
	}
	return "", false
}

// fieldNames lists the fixed fields of an entity for an error.
func fieldNames(e Entity) []string {
	var names []string
	for _, p := range properties(e) {
		names = append(names, p.name)
	}
	return names
}

// states maps MLflow's words for a state to ours.
var states = map[string][]string{
	"FINISHED":  {"SUCCEEDED"},
	"KILLED":    {"CANCELLED"},
	"SCHEDULED": {"SUBMITTED", "PENDING"},
}

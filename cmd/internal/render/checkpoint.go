package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/store/checkpoint"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Checkpoint is one line of a list of checkpoints.
type Checkpoint struct {
	Run    string // id; "" if it belongs to none
	Short  string // what to call the run in a table
	Path   string // in the output directory of its run, else as it may be given to another command
	URL    string
	Pinned bool
	*checkpoint.Checkpoint
}

// Checkpoints is a list, in the given order. A table shows why one is not whole only if some are not.
func Checkpoints(list []Checkpoint) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "checkpoints", Columns: []Column{
		{Name: "run", In: human}, {Name: "run", In: machine}, {Name: "path"}, {Name: "url", In: machine},
		{Name: "format"}, {Name: "step", Right: true}, {Name: "size", Right: true, In: human}, {Name: "size", In: machine},
		{Name: "files", Right: true}, {Name: "modified"}, {Name: "complete", In: machine},
		{Name: "reason", In: machine}, {Name: "pinned", In: machine}, {Name: "metrics", In: []Format{JSON, JSONL}},
		{Name: "state", In: human},
	}}
	for _, c := range list {
		l.Rows = append(l.Rows, []any{
			orNil(c.Short), orNil(c.Run), c.Path, c.URL,
			string(c.Format), orNull(c.Step), Size(c.Size), c.Size,
			len(c.Files), c.Modified, c.Complete(),
			orNil(c.Reason), c.Pinned, metrics(c.Metrics), stateOf(c),
		})
	}
	return l
}

// stateOf is what a table says of a checkpoint beside its facts.
func stateOf(c Checkpoint) string {
	switch {
	case !c.Complete():
		return "not whole: " + c.Reason
	case c.Pinned:
		return "pinned"
	}
	return "whole"
}

func metrics(m map[string]float64) *pyjson.Object {
	o := &pyjson.Object{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o.Set(name, m[name])
	}
	return o
}

// orNil is nil for an empty text.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Pruned is a checkpoint with what becomes of it.
type Pruned struct {
	Checkpoint
	Keep  bool
	Why   []string
	Value *float64 // of the metric that was asked for; nil = none, or unknown
}

// Prune tells for each checkpoint whether it is kept, and why.
func Prune(list []Pruned, dryRun bool) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "checkpoints", Columns: []Column{
		{Name: "run", In: human}, {Name: "run", In: machine}, {Name: "path"}, {Name: "url", In: machine},
		{Name: "format", In: machine}, {Name: "step", Right: true}, {Name: "size", Right: true, In: human}, {Name: "size", In: machine},
		{Name: "complete", In: machine}, {Name: "value", Right: true}, {Name: "keep", In: machine},
		{Name: "becomes", In: human}, {Name: "why", In: human}, {Name: "why", In: []Format{JSON, JSONL}}, {Name: "why", In: []Format{CSV}},
	}}
	freed := int64(0)
	for _, p := range list {
		becomes := "kept"
		if !p.Keep {
			becomes, freed = "deleted", freed+p.Size
		}
		var value any
		if p.Value != nil {
			value = *p.Value
		}
		why := strings.Join(p.Why, "; ")
		l.Rows = append(l.Rows, []any{
			orNil(p.Short), orNil(p.Run), p.Path, p.URL,
			string(p.Format), orNull(p.Step), Size(p.Size), p.Size,
			p.Complete(), value, p.Keep,
			becomes, why, p.Why, why,
		})
	}
	l.Also = []pyjson.Member{{Key: "dry_run", Value: dryRun}, {Key: "freed_bytes", Value: freed}}
	return l
}

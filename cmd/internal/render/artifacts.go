package render

import (
	"github.com/heirloom-ml/heirloom/tracker"
)

// Artifact is what a run made.
type Artifact struct {
	Run tracker.RunID
	tracker.Artifact
}

// Artifacts is a list of what runs made, in the given order.
func Artifacts(list []Artifact) List {
	l := List{Key: "artifacts", Columns: []Column{
		{Name: "run", In: []Format{JSON, JSONL, CSV}},
		{Name: "name"},
		{Name: "kind"},
		{Name: "size", Right: true},
		{Name: "sha256", In: []Format{JSON, JSONL, CSV}},
		{Name: "path"},
	}}
	for _, a := range list {
		var bytes, sha any
		if n, ok := a.SizeBytes(); ok {
			bytes = Size(n)
		}
		if digest := a.SHA256(); digest != "" {
			sha = digest
		}
		l.Rows = append(l.Rows, []any{a.Run, a.Name, a.Kind(), bytes, sha, a.Path})
	}
	return l
}

// Check is how an artifact was found.
type Check struct {
	Run            tracker.RunID
	Name           string
	Status, Detail string
	Path           string // as recorded
	URL            string // where it was looked for last, "" if nowhere
}

// Checks is a list of verified artifacts, in the given order.
func Checks(list []Check) List {
	machine := []Format{JSON, JSONL, CSV}
	l := List{Key: "artifacts", Columns: []Column{
		{Name: "status"},
		{Name: "artifact", In: []Format{Table}},
		{Name: "run", In: machine},
		{Name: "name", In: machine},
		{Name: "path", In: machine},
		{Name: "url", In: machine},
		{Name: "detail"},
	}}
	for _, c := range list {
		var url, detail any
		if c.URL != "" {
			url = c.URL
		}
		if c.Detail != "" {
			detail = c.Detail
		}
		l.Rows = append(l.Rows, []any{c.Status, c.Run.Name() + "#" + c.Name, c.Run, c.Name, c.Path, url, detail})
	}
	return l
}

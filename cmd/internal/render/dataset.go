package render

import (
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Dataset is one line of a list of datasets.
type Dataset struct {
	Names       []string // NAME@VERSION
	Fingerprint string
	Rows, Bytes int64
	Created     time.Time
	MadeBy      string // id of a run; "" = none
	UsedBy      []string
	Adopted     bool
	Marked      time.Time // zero = not
	Path        string    // full URL of the training data
}

// shortDigits is how much of a fingerprint a table shows.
const shortDigits = 12

// label is what to call the dataset in a table.
func (d Dataset) label() string {
	if len(d.Names) == 0 {
		return d.Fingerprint[:min(len(d.Fingerprint), shortDigits)]
	}
	return strings.Join(d.Names, " ")
}

// Datasets is a list, in the given order.
func Datasets(list []Dataset) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "datasets", Columns: []Column{
		{Name: "dataset", In: human}, {Name: "names", In: []Format{JSON, JSONL}}, {Name: "names", In: []Format{CSV}},
		{Name: "fingerprint", In: machine}, {Name: "rows", Right: true}, {Name: "bytes", Right: true, In: human}, {Name: "bytes", In: machine},
		{Name: "created"}, {Name: "made_by"}, {Name: "used", Right: true, In: human}, {Name: "used_by", In: []Format{JSON, JSONL}},
		{Name: "adopted", In: machine}, {Name: "marked", In: machine}, {Name: "path", In: machine},
	}}
	for _, d := range list {
		l.Rows = append(l.Rows, []any{
			d.label(), append([]string{}, d.Names...), strings.Join(d.Names, " "),
			d.Fingerprint, d.Rows, Size(d.Bytes), d.Bytes,
			d.Created, orNil(d.MadeBy), len(d.UsedBy), append([]string{}, d.UsedBy...),
			d.Adopted, timeOrNil(d.Marked), d.Path,
		})
	}
	return l
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// Step is what was done with a dataset, or would be.
type Step string

// The steps of a deletion.
const (
	StepKept    Step = "kept"
	StepMarked  Step = "marked"
	StepDeleted Step = "deleted"
)

// PrunedDataset is a dataset with what becomes of it.
type PrunedDataset struct {
	Dataset
	Step Step
	Why  string
}

// PrunedDatasets tells for each dataset whether it is kept, and why.
func PrunedDatasets(list []PrunedDataset, dryRun bool) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "datasets", Columns: []Column{
		{Name: "dataset", In: human}, {Name: "names", In: []Format{JSON, JSONL}}, {Name: "names", In: []Format{CSV}},
		{Name: "fingerprint", In: machine}, {Name: "bytes", Right: true, In: human}, {Name: "bytes", In: machine}, {Name: "created"},
		{Name: "step"}, {Name: "why"}, {Name: "path", In: machine},
	}}
	freed := int64(0)
	for _, d := range list {
		if d.Step == StepDeleted && !d.Adopted {
			freed += d.Bytes
		}
		l.Rows = append(l.Rows, []any{
			d.label(), append([]string{}, d.Names...), strings.Join(d.Names, " "),
			d.Fingerprint, Size(d.Bytes), d.Bytes, d.Created,
			string(d.Step), d.Why, d.Path,
		})
	}
	l.Also = []pyjson.Member{{Key: "dry_run", Value: dryRun}, {Key: "freed_bytes", Value: freed}}
	return l
}

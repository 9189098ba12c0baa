package render

import (
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Fsck is what a check of a tracker found, by key and rule. JSON also tells what was looked at.
func Fsck(r *tracker.FsckReport) List {
	human, machine := []Format{Table}, []Format{JSON, JSONL, CSV}
	l := List{Key: "findings", Columns: []Column{
		{Name: "rule"},
		{Name: "run"},
		{Name: "key"},
		{Name: "problem"},
		{Name: "repair", In: human},
		{Name: "remedy", In: machine},
		{Name: "repaired", In: machine},
		{Name: "left", In: machine},
	}, Also: []pyjson.Member{
		{Key: "runs", Value: int64(r.Runs)}, {Key: "objects", Value: int64(r.Objects)},
		{Key: "artifacts", Value: int64(r.Artifacts)}, {Key: "unchecked", Value: int64(r.Unchecked)},
	}}
	for _, f := range r.Findings {
		l.Rows = append(l.Rows, []any{
			string(f.Rule), textOrNull(string(f.Run)), string(f.Key), f.Problem, outcome(f), textOrNull(f.Remedy), f.Repaired, textOrNull(f.Left),
		})
	}
	return l
}

// outcome is what was, or can be, done about a finding.
func outcome(f tracker.Finding) string {
	switch {
	case f.Repaired:
		return "repaired"
	case f.Left != "":
		return "left: " + f.Left
	case f.Remedy != "":
		return "--repair: " + f.Remedy
	}
	return "by hand"
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

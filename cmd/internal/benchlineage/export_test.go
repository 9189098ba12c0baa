package benchlineage

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/heirloom-ml/heirloom/lineage/lineagetest"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// exported is a run as the script that fills MLflow's store reads it.
type exported struct {
	ID      string             `json:"id"`
	Name    string             `json:"name"`
	State   string             `json:"state"`
	Start   int64              `json:"start"` // milliseconds since the Unix epoch
	End     int64              `json:"end"`   // 0 = none
	Params  map[string]string  `json:"params"`
	Metrics map[string]float64 `json:"metrics"`
	Tags    map[string]string  `json:"tags"`
}

// mlflowStates maps states to MLflow's.
var mlflowStates = map[tracker.State]string{
	tracker.Succeeded: "FINISHED", tracker.Failed: "FAILED", tracker.Cancelled: "KILLED", tracker.Lost: "RUNNING", tracker.Unknown: "RUNNING",
}

func export(run *lineagetest.Run) exported {
	e := exported{ID: string(run.ID), Name: run.ID.Name(), State: mlflowStates[run.State], Start: run.Started.UnixMilli(),
		Params: map[string]string{}, Metrics: map[string]float64{}, Tags: map[string]string{}}
	if !run.Ended.IsZero() {
		e.End = run.Ended.UnixMilli()
	}
	for _, m := range []*tracker.Metadata{run.Begin, run.End} {
		for key, value := range m.All() {
			text, ok := value.(string)
			if !ok {
				text = string(pyjson.Valid(value))
			}
			if name, ok := strings.CutPrefix(key, tracker.PrefixParams); ok {
				e.Params[name] = text
			} else if name, ok := strings.CutPrefix(key, tracker.PrefixMetrics); ok {
				e.Metrics[name], _ = value.(float64)
			} else {
				e.Tags[strings.TrimPrefix(key, tracker.PrefixTags)] = text
			}
		}
	}
	for _, s := range run.Sources {
		e.Tags["source."+string(s.ID)] = s.Artifact
	}
	return e
}

// exportRuns writes the first runs, one a line.
func exportRuns(t *testing.T, root *lineagetest.Root, runs int, file string) {
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	out := json.NewEncoder(w)
	for i := range runs {
		run, err := root.Run(i)
		if err == nil {
			err = out.Encode(export(run))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

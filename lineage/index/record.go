package index

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// record is a run as it is kept: all that was read of it but its sources, which are links, and its children. Metadata
// is kept in the dialect in which it was written, so that nothing of it is lost.
type record struct {
	Metadata  string            `json:"m,omitempty"`
	Artifacts []artifactRecord  `json:"a,omitempty"`
	Attempts  []attemptRecord   `json:"t,omitempty"`
	Started   time.Time         `json:"s,omitzero"`
	Ended     time.Time         `json:"e,omitzero"`
	State     tracker.State     `json:"st"` // as told by what was read, without regard to time
	Warnings  []tracker.Warning `json:"w,omitempty"`
}

type artifactRecord struct {
	Name     string `json:"n"`
	Path     string `json:"p,omitempty"`
	Metadata string `json:"m,omitempty"` // "" = null
}

type attemptRecord struct {
	tracker.Attempt
	Scheduler string `json:"scheduler,omitempty"`
}

// encode writes what is kept of a run.
func encode(run *tracker.Run) ([]byte, error) {
	r := record{Started: run.Started, Ended: run.Ended, State: run.State, Warnings: run.Warnings}
	var err error
	if r.Metadata, err = text(run.Metadata); err != nil {
		return nil, err
	}
	for _, a := range run.Artifacts {
		kept := artifactRecord{Name: a.Name, Path: a.Path}
		if kept.Metadata, err = text(a.Metadata); err != nil {
			return nil, err
		}
		r.Artifacts = append(r.Artifacts, kept)
	}
	for _, a := range run.Attempts {
		kept := attemptRecord{Attempt: a}
		if kept.Scheduler, err = text(a.Start.Scheduler); err != nil {
			return nil, err
		}
		kept.Start.Scheduler = nil
		r.Attempts = append(r.Attempts, kept)
	}
	return json.Marshal(r)
}

// text is metadata in Python's dialect, "" for none.
func text(o *tracker.Metadata) (string, error) {
	if o == nil {
		return "", nil
	}
	body, err := pyjson.Marshal(o)
	return string(body), err
}

// decode reads what encode wrote into run. now decides whether it is lost.
func decode(run *tracker.Run, body []byte, now time.Time) error {
	var r record
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("record of %s: %w: %w", run.ID, err, store.ErrCorrupt)
	}
	var err error
	if run.Metadata, err = object(r.Metadata); err != nil {
		return err
	}
	for _, kept := range r.Artifacts {
		a := tracker.Artifact{Name: kept.Name, Path: kept.Path}
		if a.Metadata, err = object(kept.Metadata); err != nil {
			return err
		}
		run.Artifacts = append(run.Artifacts, a)
	}
	for _, kept := range r.Attempts {
		if kept.Start.Scheduler, err = object(kept.Scheduler); err != nil {
			return err
		}
		run.Attempts = append(run.Attempts, kept.Attempt)
	}
	run.Started, run.Ended, run.State, run.Warnings = r.Started, r.Ended, r.State, r.Warnings
	if n := len(run.Attempts); n > 0 && run.Attempts[n-1].End == nil { // else time changes nothing
		run.State = run.Attempts[n-1].State(now)
	}
	return nil
}

func object(body string) (*tracker.Metadata, error) {
	if body == "" {
		return nil, nil
	}
	return pyjson.UnmarshalObject([]byte(body))
}

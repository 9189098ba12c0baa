package openlineage

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// SchemaURL is that of the events that are written.
const SchemaURL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"

// The types of events.
const (
	Start    = "START"
	Running  = "RUNNING"
	Complete = "COMPLETE"
	Fail     = "FAIL"
	Abort    = "ABORT"
	Other    = "OTHER"
)

// Event is one event of a run.
type Event struct {
	Type      string    `json:"eventType,omitempty"` // one of the types above; "" = other
	Time      string    `json:"eventTime"`           // RFC 3339
	Run       Run       `json:"run"`
	Job       Job       `json:"job"`
	Inputs    []Dataset `json:"inputs"`
	Outputs   []Dataset `json:"outputs"`
	Producer  string    `json:"producer"`
	SchemaURL string    `json:"schemaURL"`
}

// Facets are further facts by name; each is an object. Nil is none.
type Facets = *pyjson.Object

// Run is one execution of a job.
type Run struct {
	ID     string `json:"runId"` // a UUID
	Facets Facets `json:"facets,omitempty"`
}

// Job is what a run executes.
type Job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Facets    Facets `json:"facets,omitempty"`
}

// Dataset is something that a run read or wrote.
type Dataset struct {
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Facets       Facets `json:"facets,omitempty"`
	InputFacets  Facets `json:"inputFacets,omitempty"`  // of inputs alone
	OutputFacets Facets `json:"outputFacets,omitempty"` // of outputs alone
}

// ErrNoRun is an event about a job or a dataset, which tells of no run.
var ErrNoRun = errors.New("the event is about no run")

// Parse reads one event. What is none has kind store.ErrInvalid; an event of a job or a dataset is ErrNoRun.
func Parse(body []byte) (*Event, error) {
	e := &Event{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, invalid("it is no event: " + reason(err))
	}
	if e.Run.ID == "" {
		var other struct {
			Job     json.RawMessage `json:"job"`
			Dataset json.RawMessage `json:"dataset"`
			Run     json.RawMessage `json:"run"`
		}
		if err := json.Unmarshal(body, &other); err == nil && other.Run == nil && (other.Job != nil || other.Dataset != nil) {
			return nil, ErrNoRun
		}
	}
	return e, e.check()
}

// check holds the event against what the standard demands and what this package relies on.
func (e *Event) check() error {
	id, err := parseUUID(e.Run.ID)
	if err != nil {
		return invalid(err.Error())
	}
	e.Run.ID = id
	if _, err := time.Parse(time.RFC3339, e.Time); err != nil {
		return invalid(fmt.Sprintf("eventTime is %q, want a time as in RFC 3339", e.Time))
	}
	switch e.Type {
	case "", Start, Running, Complete, Fail, Abort, Other:
	default:
		return invalid(fmt.Sprintf("eventType is %q, which the standard does not have", e.Type))
	}
	if e.Job.Namespace == "" || e.Job.Name == "" {
		return invalid("the job has no namespace or no name")
	}
	for _, list := range [][]Dataset{e.Inputs, e.Outputs} {
		for _, d := range list {
			if d.Namespace == "" || d.Name == "" {
				return invalid("a dataset has no namespace or no name")
			}
		}
	}
	return nil
}

// at is the time of a checked event.
func (e *Event) at() time.Time {
	t, _ := time.Parse(time.RFC3339, e.Time) // was checked
	return t.UTC()
}

func invalid(text string) error {
	return &store.Error{Op: "read event", Kind: store.ErrInvalid, Err: errors.New(text)}
}

// reason is what a decoder complains about, in few words.
func reason(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("no JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is a %s", kind.Field, kind.Value)
	}
	return err.Error()
}

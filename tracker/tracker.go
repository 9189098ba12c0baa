package tracker

import (
	"context"
	"iter"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// Metadata is an ordered object of JSON values. It is an alias: the two names
// are one type.
type Metadata = pyjson.Object

// Tracker is what records runs, as TorchX's TrackerBase. An implementation is
// safe for concurrent use; a write that returned nil is kept. Reads of a run
// that nobody wrote to find nothing, which is no error. Errors are of the kinds
// of package store; store.ErrInvalid is an argument that breaks the rules of
// RunID, Artifact, Source or pyjson.Marshal.
type Tracker interface {
	// AddArtifact records a, in the place of an earlier one of the same name.
	AddArtifact(ctx context.Context, run RunID, a Artifact) error
	// Artifacts lists the artifacts in the order of their names.
	Artifacts(ctx context.Context, run RunID) ([]Artifact, error)
	// AddMetadata sets keys; those set before keep their place and lose their value.
	AddMetadata(ctx context.Context, run RunID, m *Metadata) error
	// Metadata is what the records add up to, never nil without an error.
	Metadata(ctx context.Context, run RunID) (*Metadata, error)
	// AddSource records that run used s. Doing so again changes nothing.
	AddSource(ctx context.Context, run RunID, s Source) error
	// Sources lists what run used, by id and artifact; with an artifact named,
	// only the links that name it.
	Sources(ctx context.Context, run RunID, artifact string) ([]Source, error)
	// Lineage is one step up and down.
	Lineage(ctx context.Context, run RunID) (Lineage, error)
	// RunIDs yields all runs, or those that used parent unless it is "", sorted.
	// An error is the last thing yielded.
	RunIDs(ctx context.Context, parent RunID) iter.Seq2[RunID, error]
}

// Lineage is what lies one step from a run.
type Lineage struct {
	Run       RunID
	Sources   []Source   // what the run used, by id and artifact
	Consumers []Edge     // who used the run, by id and artifact; From is the run
	Artifacts []Artifact // what the run made, by name
}

// Edge says that To used From.
type Edge struct {
	From, To RunID
	Source   Source // as To recorded it; its ID is From
}

// Run is everything recorded about a run.
type Run struct {
	ID        RunID
	State     State
	Metadata  *Metadata  // never nil
	Artifacts []Artifact // by name
	Sources   []Source   // by id and artifact
	// Children are the runs that used this one, sorted. FileTracker.Runs finds
	// all; FileTracker.Run only those in the mirror that writers keep in the
	// parent, which lacks children written by TorchX before September 2026 or
	// before the parent itself.
	Children []RunID
	Attempts []Attempt // by number
	// Started and Ended are zero where unknown: in runs written by TorchX, and
	// Ended until the run has.
	Started, Ended time.Time
	Warnings       []Warning // what could not be read, by key
}

// Warning tells of something in the root that was passed over.
type Warning struct {
	Rule   Rule
	Key    store.Key // below the tracker's root
	Reason string
}

func (w Warning) String() string { return string(w.Key) + ": " + w.Reason }

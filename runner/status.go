package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// State is where an app, or a replica of it, stands: the state of a run.
type State = tracker.State

// AppStatus is where an app stands, as its scheduler knows it. Zero times are not
// known.
type AppStatus struct {
	Handle      Handle        `json:"handle"` // with the session that was recorded
	State       State         `json:"state"`
	NumRestarts int           `json:"num_restarts"`     // attempts after the first
	Message     string        `json:"msg,omitempty"`    // of the scheduler: why it waits, why it failed
	JobID       string        `json:"job_id,omitempty"` // the scheduler's own; of a local supervisor its process id
	UIURL       string        `json:"ui_url,omitempty"` // where one can look
	Error       *ReplicaError `json:"error,omitempty"`  // the first that a replica left; nil = none
	Submitted   time.Time     `json:"submitted,omitzero"`
	Started     time.Time     `json:"started,omitzero"`
	Ended       time.Time     `json:"ended,omitzero"`
	Roles       []RoleStatus  `json:"roles,omitempty"` // in the app's order; none = not known
}

// RoleStatus is where the replicas of a role stand, in order of their numbers.
type RoleStatus struct {
	Task     string          `json:"task,omitempty"` // of an array, each of which has all roles; "" = it is none
	Role     string          `json:"role"`
	Replicas []ReplicaStatus `json:"replicas"`
}

// ReplicaStatus is where a replica stands, in its last attempt.
type ReplicaStatus struct {
	ID       int           `json:"id"`             // from 0 in its role
	Task     string        `json:"task,omitempty"` // of an array
	Role     string        `json:"role"`
	State    State         `json:"state"`
	Hostname string        `json:"hostname,omitempty"`
	Attempt  int           `json:"attempt,omitempty"`   // from 1; 0 = it never started
	PID      int           `json:"pid,omitempty"`       // on Hostname; 0 = not known
	ExitCode *int          `json:"exit_code,omitempty"` // nil = it did not end, or not by itself
	Signal   string        `json:"signal,omitempty"`    // that ended it, as "SIGKILL"; "" = none
	Reason   string        `json:"reason,omitempty"`    // what is known beyond that, as "out of memory", "command not found"
	Error    *ReplicaError `json:"error,omitempty"`     // that it left in TORCHELASTIC_ERROR_FILE; nil = none
	Started  time.Time     `json:"started,omitzero"`
	Ended    time.Time     `json:"ended,omitzero"`
}

// Settled says whether the app will not change any more: it has ended, or what
// watched over it is gone.
func (s AppStatus) Settled() bool { return s.State.Terminal() || s.State == tracker.Lost }

// Replica gives the status of one replica, nil if it is not known.
func (s *AppStatus) Replica(role string, id int) *ReplicaStatus {
	for _, r := range s.Roles {
		for i := range r.Replicas {
			if r.Role == role && r.Replicas[i].ID == id {
				return &r.Replicas[i]
			}
		}
	}
	return nil
}

// FirstFailure gives the failed replica that ended first, and of those that ended
// together, or whose end has no time, the first in order; nil if none failed. One
// that we ended did not.
func (s *AppStatus) FirstFailure() *ReplicaStatus { return s.first(tracker.Failed) }

// first gives the replica in a state that ended first.
func (s *AppStatus) first(state State) *ReplicaStatus {
	var first *ReplicaStatus
	for _, role := range s.Roles {
		for i := range role.Replicas {
			r := &role.Replicas[i]
			if r.State == state && (first == nil || !r.Ended.IsZero() && r.Ended.Before(first.Ended)) {
				first = r
			}
		}
	}
	return first
}

// Code is how a shell would show the replica's end: its exit code, or 128+n for
// signal n. It is 0 for one that succeeded, and -1 where there is no such number.
func (r *ReplicaStatus) Code() int {
	switch {
	case r.ExitCode != nil:
		return *r.ExitCode
	case r.Signal != "":
		if n := signalNumber(r.Signal); n > 0 {
			return 128 + n
		}
	case r.State == tracker.Succeeded:
		return 0
	}
	return -1
}

// NoExitCode is the exit code of an app that has none: it is lost, or did not run.
const NoExitCode = 125

// ExitCode is the app's own: 0 if it succeeded, else that of its first failure. That
// of one that was cancelled is its first replica's, else 143, which is SIGTERM. An app of
// which no replica has one has NoExitCode.
func (s *AppStatus) ExitCode() int {
	if s.State == tracker.Succeeded {
		return 0
	}
	for _, state := range []State{tracker.Failed, tracker.Cancelled} {
		if first := s.first(state); first != nil && first.Code() > 0 {
			return first.Code()
		}
	}
	if s.State == tracker.Cancelled {
		return 128 + signalNumber("SIGTERM")
	}
	return NoExitCode
}

// Err is nil for an app that succeeded, else a *StatusError. It follows TorchX's
// raise_for_status: an app that still runs did not succeed either.
func (s AppStatus) Err() error {
	if s.State == tracker.Succeeded {
		return nil
	}
	return &StatusError{s}
}

// StatusError is what an app that did not succeed comes to.
type StatusError struct{ Status AppStatus }

// Error names the app, its state and the first failure.
func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "job did not succeed: %s is %s", e.Status.Handle, e.Status.State)
	if first := e.Status.FirstFailure(); first != nil {
		b.WriteString(": ")
		if first.Task != "" {
			fmt.Fprintf(&b, "task %s, ", first.Task)
		}
		fmt.Fprintf(&b, "%s[%d]", first.Role, first.ID)
		switch {
		case first.Signal != "":
			fmt.Fprintf(&b, " was ended by %s", first.Signal)
		case first.ExitCode != nil:
			fmt.Fprintf(&b, " exited with %d", *first.ExitCode)
		}
		if first.Reason != "" {
			fmt.Fprintf(&b, " (%s)", first.Reason)
		}
		if first.Error != nil {
			fmt.Fprintf(&b, ": %s", first.Error.Message)
		}
	}
	if e.Status.Message != "" {
		fmt.Fprintf(&b, "; %s", e.Status.Message)
	}
	return store.Redact(b.String())
}

// FoldState gives the state of an app from those of its replicas: it runs while one
// runs, has failed when one failed and none runs, and succeeded when all did. None
// is Unknown.
func FoldState(replicas []State) State {
	for _, s := range []State{tracker.Running, tracker.Lost, tracker.Failed, tracker.Cancelled,
		tracker.Pending, tracker.Submitted, tracker.Unsubmitted, tracker.Succeeded} {
		if slices.Contains(replicas, s) {
			return s
		}
	}
	return tracker.Unknown
}

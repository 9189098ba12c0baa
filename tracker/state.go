package tracker

import (
	"slices"
	"time"
)

// State is where a run stands: the names of TorchX's AppState, and LOST.
type State string

// The states. Lost is a run that neither ended nor gave a sign of life for
// LostAfter; a run without attempts, such as TorchX writes, is Unknown.
const (
	Unsubmitted State = "UNSUBMITTED"
	Submitted   State = "SUBMITTED"
	Pending     State = "PENDING"
	Running     State = "RUNNING"
	Succeeded   State = "SUCCEEDED"
	Failed      State = "FAILED"
	Cancelled   State = "CANCELLED"
	Unknown     State = "UNKNOWN"
	Lost        State = "LOST"
)

const (
	// BeatEvery is how often a running attempt calls Beat.
	BeatEvery = time.Minute
	// LostAfter is how long a run is believed to live after its last beat.
	LostAfter = 3 * time.Minute
)

// Terminal says whether a run in this state has ended for good.
func (s State) Terminal() bool {
	return s == Succeeded || s == Failed || s == Cancelled
}

// HasStarted says whether a run in this state has begun, and may have ended. It
// follows TorchX's is_started.
func (s State) HasStarted() bool { return s == Running || s.Terminal() }

// States lists all states in the order of their numbers: TorchX's from 0 to 7, and
// Lost, which is 8.
func States() []State {
	return []State{Unsubmitted, Submitted, Pending, Running, Succeeded, Failed, Cancelled, Unknown, Lost}
}

// Number is the number of the state, as TorchX's AppState has them; of what is no
// state it is that of Unknown.
func (s State) Number() int {
	if n := slices.Index(States(), s); n >= 0 {
		return n
	}
	return Unknown.Number()
}

func (s State) known() bool { return slices.Contains(States(), s) }

// setState derives state and times from the highest attempt, so that a late
// record of an earlier one changes nothing. Without attempts it takes what the
// metadata say.
func (r *Run) setState(now time.Time) {
	if len(r.Attempts) == 0 {
		r.State = State(r.Metadata.Text(KeyState))
		if !r.State.known() {
			r.State = Unknown
		}
		r.Started = parseTime(r.Metadata.Text(KeyStarted))
		r.Ended = parseTime(r.Metadata.Text(KeyEnded))
		return
	}
	last := r.Attempts[len(r.Attempts)-1]
	r.Started = r.Attempts[0].Start.Time
	r.State = last.State(now)
	switch {
	case last.End == nil:
	case last.End.Requeued:
		r.setBetween()
	default:
		r.Ended = last.End.Time
	}
}

// setBetween is for a run that waits for a further attempt. Who knows that none will
// come says so in the metadata.
func (r *Run) setBetween() {
	if r.State = State(r.Metadata.Text(KeyState)); r.State.Terminal() {
		r.Ended = parseTime(r.Metadata.Text(KeyEnded))
		return
	}
	r.State = Pending
}

// State is where the attempt stands at a time: Running or Lost until it has
// ended. Of a run it is that of the last attempt, unless that was requeued.
func (a Attempt) State(now time.Time) State {
	if a.End != nil {
		return a.End.State
	}
	limit := a.Start.LostAfter
	if limit == 0 {
		limit = LostAfter
	}
	if limit > 0 && now.Sub(a.Seen()) > limit {
		return Lost
	}
	return Running
}

// Seen is the last sign of life before the end.
func (a Attempt) Seen() time.Time {
	if a.Beat.After(a.Start.Time) {
		return a.Beat
	}
	return a.Start.Time
}

package index

import (
	"context"
	"slices"
	"time"

	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	// afterSurprise is how long the whole root is listed in every refresh once something was found there of which the
	// journal had not told: somebody writes who keeps none, such as TorchX.
	afterSurprise = 24 * time.Hour
	// unsurprising is how old a change must be for its entry in the journal to be missed.
	unsurprising = time.Minute
	// lately is how young a run without attempts must be at first sight to be the work of a writer that is still there.
	lately = 7 * 24 * time.Hour
)

// surprise is a change of which the journal had not told when it was read.
type surprise struct {
	run    tracker.RunID
	newest time.Time // of its objects; zero = it is gone
}

// surprised notes that a run changed, unless that was to be expected: it was announced, or had not ended. The journal
// is judged in whole listings alone, and not at first sight.
func (r *refresh) surprised(s *tracker.Survey, k knownRun) {
	if r.first || r.heard.runs[s.ID] || k.open || k.n != 0 && !k.settled {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.surprises = append(r.surprises, surprise{s.ID, s.Newest})
}

// judge drops the surprises that are none: those whose entries came while the root was listed, and those of which an
// entry may still come.
func (r *refresh) judge(ctx context.Context) error {
	r.surprises = slices.DeleteFunc(r.surprises, func(s surprise) bool {
		age := r.done.Began.Sub(s.newest)
		return r.heard.runs[s.run] || !s.newest.IsZero() && age < unsurprising || r.first && age > lately
	})
	if len(r.surprises) == 0 || !r.tracker.Journaled() {
		return nil
	}
	late, err := r.listen(ctx, r.done.Began)
	if err != nil {
		return err
	}
	r.surprises = slices.DeleteFunc(r.surprises, func(s surprise) bool { return late.runs[s.run] })
	return nil
}

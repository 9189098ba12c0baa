package index

import (
	"context"

	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	maxParts = 16  // listings side by side
	partRuns = 500 // known runs, below which a part is not worth a listing of its own
)

// part is a piece of the root that is listed by itself: the directories that come after one name, up to another.
type part struct {
	*refresh
	after, last string     // "" = no bound
	known       []knownRun // of the piece, that the listing has not come to, by dir
	pending     []*tracker.Survey

	// take reads runs, and writes them once before is closed, whereupon it closes after. It returns at once, unless much
	// is being taken already.
	take  func(runs []*tracker.Survey, before <-chan struct{}, after chan<- struct{})
	taken <-chan struct{} // closed once the runs before were taken, so that they are written in order; nil = there are none
}

// parts cuts the root between runs that are known already, so that the pieces are of about equal size. Where a listing
// cannot begin anywhere, or costs nothing, there is one.
func (r *refresh) parts(known []knownRun) []*part {
	n := min(len(known)/partRuns, maxParts)
	if _, local := r.tracker.Store().LocalPath(""); local || n < 2 || r.tracker.Store().ListsFromStart() {
		return []*part{{refresh: r, known: known}}
	}
	var list []*part
	after := ""
	for i := range n {
		p := &part{refresh: r, after: after, known: known[i*len(known)/n : (i+1)*len(known)/n]}
		if i < n-1 {
			p.last = p.known[len(p.known)-1].dir
		}
		after = p.last
		list = append(list, p)
	}
	return list
}

// run goes through the listing and the index side by side: both are in the order of the directories' names.
func (p *part) run(ctx context.Context) error {
	for s, err := range p.tracker.SurveysBetween(ctx, p.after, p.last) {
		if err != nil {
			return err
		}
		p.saw(s)
		if p.see(s) {
			p.pending = append(p.pending, s)
		}
		if len(p.pending) >= batch {
			p.flush()
		}
	}
	p.forget(len(p.known))
	p.flush()
	return nil
}

// flush has the pending runs taken.
func (p *part) flush() {
	if len(p.pending) == 0 {
		return
	}
	taken := make(chan struct{})
	p.take(p.pending, p.taken, taken)
	p.pending, p.taken = nil, taken
}

// forget takes the next known runs for gone.
func (p *part) forget(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.known[:n] {
		p.gone = append(p.gone, k.n)
		if id, err := tracker.DecodeRunID(k.dir); err == nil {
			p.surprises = append(p.surprises, surprise{run: id})
		}
	}
	p.known = p.known[n:]
}

// see reports whether a run must be read. What the index knows before it in order is gone.
func (p *part) see(s *tracker.Survey) bool {
	dir := s.ID.Encode()
	n := 0
	for n < len(p.known) && p.known[n].dir < dir {
		n++
	}
	p.forget(n)
	if len(p.known) == 0 || p.known[0].dir != dir {
		p.surprised(s, knownRun{})
		return true
	}
	k := p.known[0]
	p.known = p.known[1:]
	if k.settled && string(k.print) == string(s.Print[:]) {
		return false
	}
	p.surprised(s, k)
	return true
}

package checkpoint

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Policy says which checkpoints of one run are kept, each of its rules by itself: what one rule wants stays. The zero
// value keeps all.
type Policy struct {
	Last  int   // those of the N highest steps; 0 = no such rule
	Every int64 // those whose step is a multiple of it; 0 = no such rule
	Best  int   // the N best by Candidate.Value; 0 = no such rule
	Max   bool  // a higher value is better, else a lower one
	// Incomplete lets go what is not whole and older than the newest that is.
	Incomplete bool
}

// Candidate is a checkpoint with what is known of it beside its files.
type Candidate struct {
	*Checkpoint
	Value  float64 // of the metric; NaN, also for unknown, is never among the best
	Pinned bool
	Held   string // what needs it: it is kept whatever the policy says; "" = nothing
}

// Decision is what becomes of one checkpoint.
type Decision struct {
	*Checkpoint
	Keep bool
	Why  []string // every rule that keeps it, or the one reason to let it go
}

// Decide says for each candidate, in the same order, whether it is kept and why. The newest that is whole always is,
// and so are those that are pinned or held, those whose step is not known beside others whose is, and, unless the
// policy says otherwise, those that are not whole. Checkpoints of one step stay or go together under Last.
func (p Policy) Decide(list []Candidate) []Decision {
	newest := newestOf(list)
	last, best := p.last(list), p.best(list)
	decisions := make([]Decision, len(list))
	for i, c := range list {
		why := p.rules(c, newest)
		if c.Complete() {
			if last[c.Checkpoint] {
				why = append(why, fmt.Sprintf("one of the last %d", p.Last))
			}
			if rank := best[c.Checkpoint]; rank > 0 {
				why = append(why, fmt.Sprintf("number %d by the metric", rank))
			}
		}
		decisions[i] = Decision{Checkpoint: c.Checkpoint, Keep: len(why) > 0, Why: why}
		if len(why) == 0 {
			decisions[i].Why = []string{p.against(c)}
		}
	}
	return decisions
}

// rules are the reasons to keep c that do not depend on its rank.
func (p Policy) rules(c Candidate, newest *Checkpoint) []string {
	var why []string
	keep := func(reason string, holds bool) {
		if holds {
			why = append(why, reason)
		}
	}
	keep("pinned", c.Pinned)
	keep(c.Held, c.Held != "")
	if !c.Complete() {
		older := newest != nil && Compare(c.Checkpoint, newest) < 0
		keep("not whole, and newer than any that is", p.Incomplete && !older)
		keep("not whole: "+c.Reason, !p.Incomplete)
		return why
	}
	keep("the newest", c.Checkpoint == newest)
	keep("no rule", p.Last == 0 && p.Every == 0 && p.Best == 0)
	keep("its step is not known", c.Step < 0 && newest != nil && newest.Step >= 0)
	keep(fmt.Sprintf("every %d steps", p.Every), p.Every > 0 && c.Step >= 0 && c.Step%p.Every == 0)
	return why
}

func (p Policy) against(c Candidate) string {
	if !c.Complete() {
		return "not whole: " + c.Reason
	}
	return "no rule keeps it"
}

func newestOf(list []Candidate) *Checkpoint {
	all := make([]*Checkpoint, len(list))
	for i, c := range list {
		all[i] = c.Checkpoint
	}
	return Latest(all)
}

// last are those of the highest steps, or the newest where no step is known.
func (p Policy) last(list []Candidate) map[*Checkpoint]bool {
	whole := wholeOnes(list)
	slices.SortFunc(whole, func(a, b Candidate) int { return Compare(b.Checkpoint, a.Checkpoint) })
	kept := map[*Checkpoint]bool{}
	steps, before := 0, int64(NoStep)
	for _, c := range whole {
		if c.Step < 0 || c.Step != before {
			steps++
		}
		if before = c.Step; steps <= p.Last {
			kept[c.Checkpoint] = true
		}
	}
	return kept
}

// best ranks the best, from 1; of equal ones the newer is better.
func (p Policy) best(list []Candidate) map[*Checkpoint]int {
	whole := slices.DeleteFunc(wholeOnes(list), func(c Candidate) bool { return math.IsNaN(c.Value) })
	slices.SortFunc(whole, func(a, b Candidate) int {
		order := cmp.Compare(a.Value, b.Value)
		if p.Max {
			order = -order
		}
		return cmp.Or(order, Compare(b.Checkpoint, a.Checkpoint))
	})
	kept := map[*Checkpoint]int{}
	for i, c := range whole[:min(p.Best, len(whole))] {
		kept[c.Checkpoint] = i + 1
	}
	return kept
}

func wholeOnes(list []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(list), func(c Candidate) bool { return !c.Complete() })
}

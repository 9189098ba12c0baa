package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// KeyReplicaExitCodes is the metadata key of the exit codes of the processes that
// were one attempt, in the order of their numbers; null where there is none.
const KeyReplicaExitCodes = "heirloom.replica_exit_codes"

const (
	lookFirst = 100 * time.Millisecond // after which the other ranks are looked at again
	lookLast  = 5 * time.Second
)

// recordRankEnd is recordEnd for one process of a launch. The first of them waits
// for the others and ends the attempt; should it be gone, whoever ends last does.
func (r *run) recordRankEnd(ctx context.Context, exit process.Exit) error {
	ctx = context.WithoutCancel(ctx)
	wanted, stop := whileWanted(ctx)
	defer stop()
	end := tracker.AttemptEnd{Time: exit.Ended, State: stateOf(exit), Signal: exit.Signal}
	if exit.Exited() {
		end.ExitCode = &exit.Code
	}
	r.warnOfExit("", exit)
	var err error
	if !r.place.inPlace {
		if err = r.registerOutputs(wanted, exit); err != nil {
			end.State = tracker.Failed
			r.warnf("%v", err)
		}
	}
	r.result.State, r.result.ExitCode, r.result.Signal, r.result.Ended = end.State, exit.Code, exit.Signal, exit.Ended
	if recorded := r.endRank(ctx, end); recorded != nil {
		return reasons(err, recorded)
	}
	ranks, ours, waitErr := r.awaitRanks(ctx, wanted)
	if waitErr != nil || !ours {
		return reasons(err, waitErr)
	}
	return reasons(err, r.endLaunch(ctx, wanted, exit, ranks))
}

// endRank records how our process of the launch ended.
func (r *run) endRank(ctx context.Context, end tracker.AttemptEnd) error {
	if r.attempt == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	return r.Tracker.EndReplica(limited, r.id, r.replica(), end)
}

// endLaunch records the end of the attempt for all its processes.
func (r *run) endLaunch(ctx, wanted context.Context, exit process.Exit, ranks launchRanks) error {
	end := ranks.end(r.now())
	for _, warning := range ranks.warnings() {
		r.warnf("%s", warning)
	}
	var err error
	if r.place.inPlace {
		if err = r.registerOutputs(wanted, exit); err != nil {
			end.State = tracker.Failed
			r.warnf("%v", err)
		}
	}
	m := &pyjson.Object{}
	r.readMetrics(m)
	m.Merge(r.git.answer(gitOvertime))
	r.describeEnd(m, end)
	m.Set(KeyReplicaExitCodes, ranks.codes())
	limited, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	ended := r.endAttempt(limited, end)
	if errors.Is(ended, store.ErrExist) { // another was as late as we
		return err
	}
	return reasons(err, r.Tracker.AddMetadata(limited, r.id, m), ended)
}

// awaitRanks says how the processes of the launch ended, and whether it is ours to
// record it. The first process waits until each of the others has ended, or is gone,
// or did not begin for as long as one counts as lost; when it is told to end, no
// longer than the grace time. Others wait for nobody.
func (r *run) awaitRanks(ctx, wanted context.Context) (ranks launchRanks, ours bool, err error) {
	if r.leads() {
		alive, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { r.beat(alive) })
		defer wg.Wait()
		defer stop()
	}
	since, pause := time.Now(), lookFirst
	for {
		if ranks, err = r.lookAtRanks(ctx); err != nil {
			return ranks, false, err
		}
		if !r.leads() {
			ours, err = r.inherits(ctx, ranks)
			return ranks, ours, err
		}
		waited := time.Since(since)
		if n := ranks.count(rankAbsent); ranks.count(rankAlive) == 0 && (n == 0 || waited > tracker.LostAfter) || wanted.Err() != nil && waited > r.grace() {
			return ranks, true, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ranks, true, nil
		}
		pause = min(2*pause, lookLast)
	}
}

// inherits says whether the first process is gone and nobody is left but us, so that
// the end of the attempt is ours to record.
func (r *run) inherits(ctx context.Context, ranks launchRanks) (bool, error) {
	if !ranks.firstGone || ranks.count(rankAlive)+ranks.count(rankAbsent) > 0 {
		return false, nil
	}
	attempts, err := r.Tracker.Attempts(ctx, r.id)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(attempts, func(a tracker.Attempt) bool { return a.Number == r.attempt && a.End == nil }), nil
}

// rankState is where one process of a launch stands.
type rankState int

const (
	rankAbsent rankState = iota // it has not begun
	rankAlive
	rankGone // it will not record its end
	rankEnded
)

// launchRanks are the processes of a launch by their numbers.
type launchRanks struct {
	states    []rankState
	records   []tracker.Replica
	firstGone bool // the first process, which would record the end, is no more
}

func (r *run) lookAtRanks(ctx context.Context) (launchRanks, error) {
	size := r.job.Launch.Size
	ranks := launchRanks{states: make([]rankState, size), records: make([]tracker.Replica, size)}
	list, err := r.Tracker.Replicas(ctx, r.id, r.attempt)
	if err != nil {
		return ranks, err
	}
	for _, rank := range list {
		if rank.Role != role || rank.Number >= size {
			continue
		}
		state := rankAlive
		switch {
		case rank.End != nil:
			state = rankEnded
		case r.gone(rank):
			state = rankGone
		}
		ranks.states[rank.Number], ranks.records[rank.Number] = state, rank
		if rank.Number == 0 {
			rank.End = nil // its process may be gone after that too
			ranks.firstGone = r.gone(rank)
		}
	}
	return ranks, nil
}

func (l launchRanks) count(state rankState) int {
	n := 0
	for _, s := range l.states {
		if s == state {
			n++
		}
	}
	return n
}

// end is how all of them ended: failed if one did or has vanished, with the code of
// the first that failed; else cancelled if one was.
func (l launchRanks) end(now time.Time) tracker.AttemptEnd {
	zero := 0
	end := tracker.AttemptEnd{State: tracker.Succeeded, ExitCode: &zero}
	for i, state := range l.states {
		own := l.records[i].End
		if state != rankEnded {
			own = &tracker.AttemptEnd{State: tracker.Failed, Time: now}
		}
		if own.Time.After(end.Time) {
			end.Time = own.Time
		}
		known := own.ExitCode != nil || own.Signal != ""
		switch worse := severity(own.State) - severity(end.State); {
		case worse > 0, worse == 0 && own.State == tracker.Failed && end.ExitCode == nil && end.Signal == "" && known:
			end.State, end.ExitCode, end.Signal = own.State, own.ExitCode, own.Signal
		}
	}
	return end
}

func severity(s tracker.State) int {
	switch s {
	case tracker.Succeeded:
		return 0
	case tracker.Cancelled:
		return 1
	}
	return 2
}

// codes are the exit codes; null where a process did not exit by itself, or vanished.
func (l launchRanks) codes() []any {
	list := make([]any, len(l.states))
	for i, rank := range l.records {
		if rank.End != nil && rank.End.ExitCode != nil {
			list[i] = int64(*rank.End.ExitCode)
		}
	}
	return list
}

// warnings name those that did not end as they should.
func (l launchRanks) warnings() []string {
	var list []string
	for _, w := range []struct {
		text string
		is   func(i int) bool
	}{
		{"failed", func(i int) bool { return l.states[i] == rankEnded && l.records[i].End.State == tracker.Failed }},
		{"vanished without a record of their end", func(i int) bool { return l.states[i] == rankGone }},
		{"had not ended when the end was recorded", func(i int) bool { return l.states[i] == rankAlive }},
		{"never began", func(i int) bool { return l.states[i] == rankAbsent }},
	} {
		if named := l.named(w.is); named != "" {
			list = append(list, "ranks that "+w.text+": "+named)
		}
	}
	return list
}

const maxRanksNamed = 8

func (l launchRanks) named(is func(i int) bool) string {
	var names []string
	n := 0
	for i := range l.states {
		if !is(i) {
			continue
		}
		if n++; n > maxRanksNamed {
			continue
		}
		name := fmt.Sprint(i)
		if end := l.records[i].End; end != nil && end.Signal != "" {
			name += " (" + end.Signal + ")"
		} else if end != nil && end.ExitCode != nil {
			name += fmt.Sprintf(" (exit code %d)", *end.ExitCode)
		}
		names = append(names, name)
	}
	if n > maxRanksNamed {
		names = append(names, fmt.Sprintf("and %d more", n-maxRanksNamed))
	}
	return strings.Join(names, ", ")
}

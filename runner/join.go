package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

const maxCalls = 10_000 // of heirloom by one process of a launch

// leads says whether we record what concerns the run as a whole.
func (r *run) leads() bool { return r.job.Launch == nil || r.job.Launch.Rank == 0 }

// replica is which of the run's processes we are.
func (r *run) replica() tracker.ReplicaID {
	id := tracker.ReplicaID{Attempt: r.attempt, Role: role}
	if r.job.Launch != nil {
		id.Number = r.job.Launch.Rank
	}
	return id
}

// join finds the attempt that the processes of our launch are, or begins it:
// whoever comes first does. It goes through the runs of the launch, since a process
// may make several, to the first that we have not been part of.
func (r *run) join(ctx context.Context) error {
	for call := 1; call <= maxCalls; call++ {
		if r.job.RunID == "" {
			id, err := r.job.Launch.runID(r.job.Session, r.launchName(), call)
			if err != nil {
				return err
			}
			r.setID(id)
		}
		joined, err := r.joinRun(ctx)
		if joined || err != nil {
			return err
		}
	}
	return fmt.Errorf("this process has been part of %d runs: %w", maxCalls, store.ErrInvalid)
}

// launchName is what the run of a launch is called in its id. The commands of its
// processes may differ, so it is not theirs.
func (r *run) launchName() string {
	if r.named {
		return r.job.Name
	}
	return r.job.Launch.Name
}

func (r *run) setID(id tracker.RunID) {
	r.id, r.result.RunID = id, id
	if r.parent == id {
		r.parent = ""
	}
}

// joinRun becomes part of an attempt of the run, unless our launch's part in it is
// over.
func (r *run) joinRun(ctx context.Context) (joined bool, err error) {
	for {
		earlier, err := r.Tracker.Attempts(ctx, r.id)
		if err != nil {
			return false, err
		}
		n := 1
		if len(earlier) > 0 {
			last := earlier[len(earlier)-1]
			switch r.kinship(last.Start) {
			case sameLaunch:
				r.setAttempt(last.Number)
				r.earlier = earlier[:len(earlier)-1]
				joined, again, err := r.startRank(ctx)
				if joined || err != nil || !again && r.job.RunID == "" {
					return joined, err
				}
			case otherLaunch:
				if r.job.RunID == "" {
					return false, nil
				}
				if err := r.admit(ctx, earlier); err != nil {
					return false, err
				}
			}
			n = last.Number + 1
		}
		if err := r.mayBegin(earlier); err != nil {
			return false, err
		}
		start := r.attemptStart()
		start.Scheduler = r.job.Launch.record()
		err = r.Tracker.ClaimAttempt(ctx, r.id, n, start)
		if err != nil && !errors.Is(err, store.ErrExist) {
			return false, err
		}
	}
}

// mayBegin holds a new attempt against Resume.
func (r *run) mayBegin(earlier []tracker.Attempt) error {
	switch {
	case len(earlier) > 0 && r.resume() == ResumeNever:
		return refusal(fmt.Sprintf("%s exists already, and a run that exists is never resumed here", r.id))
	case len(earlier) == 0 && r.resume() == ResumeMust:
		return refusal(fmt.Sprintf("nothing is recorded of %s, so there is nothing to resume", r.id))
	}
	return nil
}

// kin says what an attempt is to our launch.
type kin int

const (
	sameLaunch  kin = iota
	beforeUs        // the scheduler has started the launch again since
	otherLaunch     // another, or none
)

func (r *run) kinship(start tracker.AttemptStart) kin {
	l := r.job.Launch
	switch {
	case start.Scheduler == nil || start.Scheduler.Text("launch") != l.ID:
		return otherLaunch
	case start.Scheduler.Text("incarnation") != l.Incarnation:
		return beforeUs
	case start.Scheduler.Text("instance") != l.Instance:
		return otherLaunch
	}
	return sameLaunch
}

// record is what the start of an attempt says of its launch.
func (l *Launch) record() *pyjson.Object {
	o := pyjson.NewObject(
		pyjson.Member{Key: "launch", Value: l.ID},
		pyjson.Member{Key: "incarnation", Value: l.Incarnation},
		pyjson.Member{Key: "replicas", Value: int64(l.Size)})
	if l.Instance != "" {
		o.Set("instance", l.Instance)
	}
	return o
}

// startRank records that our part of the attempt begins. Where it had begun before,
// by a process that is gone without an end, we are started again.
func (r *run) startRank(ctx context.Context) (joined, again bool, err error) {
	err = r.Tracker.StartReplica(ctx, r.id, r.replica(), r.attemptStart())
	if err == nil || !errors.Is(err, store.ErrExist) {
		return err == nil, false, err
	}
	list, err := r.Tracker.Replicas(ctx, r.id, r.attempt)
	if err != nil {
		return false, false, err
	}
	for _, before := range list {
		if before.ReplicaID == r.replica() {
			return false, before.End == nil && r.gone(before), nil
		}
	}
	return false, false, nil
}

// gone says that a process without a record of its end will not write one.
func (r *run) gone(rank tracker.Replica) bool {
	return rank.State(r.now()) == tracker.Lost || replaced(rank.Start, r.attemptStart())
}

// writeJoined is writeStart for one process of a launch: the first of them says
// what there is to say of the run.
func (r *run) writeJoined(ctx context.Context) error {
	if err := r.join(ctx); err != nil || !r.leads() {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	group.Go(func() error { return r.Tracker.AddMetadata(ctx, r.id, r.metadata()) })
	for _, source := range r.sources() {
		group.Go(func() error { return r.Tracker.AddSource(ctx, r.id, source) })
	}
	return group.Wait()
}

// replicaName tells the store which of several that mirror one directory we are, ""
// if we are alone.
func (r *run) replicaName() string {
	if r.job.Launch == nil {
		return ""
	}
	return role + "-" + strconv.Itoa(r.job.Launch.Rank)
}

// metricsName is the file of our metrics: the run's is that of the first process.
func (r *run) metricsName() string {
	if r.leads() {
		return metricsFile
	}
	return fmt.Sprintf("metrics.%d.jsonl", r.job.Launch.Rank)
}

package runnertest

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// fakeApp is an app that was submitted. The mutex of its Fake guards it.
type fakeApp struct {
	fake      *fakeState
	plan      *runner.Plan
	number    int
	submitted time.Time
	started   time.Time
	finished  time.Time
	grace     time.Duration
	state     runner.State
	cancelled bool
	restarts  int
	replicas  []*fakeReplica
	stop      context.CancelCauseFunc
	ended     chan struct{}
}

func (a *fakeApp) submission() runner.Submission {
	return runner.Submission{JobID: strconv.Itoa(a.number)}
}

func (a *fakeApp) dir() string { return filepath.Join(a.fake.dir, a.plan.Handle.App) }

func (a *fakeApp) status() runner.AppStatus {
	s := runner.AppStatus{
		Handle: a.plan.Handle, State: a.state, NumRestarts: a.restarts, JobID: strconv.Itoa(a.number),
		Submitted: a.submitted, Started: a.started, Ended: a.finished,
	}
	for i := range a.plan.App.Roles {
		role := runner.RoleStatus{Role: a.plan.App.Roles[i].Name}
		for _, r := range a.replicas {
			if r.role == &a.plan.App.Roles[i] {
				role.Replicas = append(role.Replicas, r.status)
			}
		}
		s.Roles = append(s.Roles, role)
	}
	if first := s.FirstFailure(); first != nil {
		s.Error = first.Error
	}
	return s
}

// run runs the app, attempt after attempt.
func (a *fakeApp) run(ctx context.Context) {
	defer close(a.ended)
	retries := map[*runner.Role]int{}
	again := slices.Clone(a.replicas)
	for attempt := 1; ; attempt++ {
		failed := a.attempt(ctx, attempt, again)
		a.fake.mu.Lock()
		if again = a.retry(failed, retries); len(again) == 0 {
			a.finish()
			a.fake.mu.Unlock()
			return
		}
		a.restarts++
		a.fake.mu.Unlock()
	}
}

// retry gives the replicas that are to run again: all of them, as RetryApplication
// says, which is the one policy of a Fake.
func (a *fakeApp) retry(failed *fakeReplica, retries map[*runner.Role]int) []*fakeReplica {
	if failed == nil || a.cancelled || failed.cannotStart || retries[failed.role] >= failed.role.MaxRetries {
		return nil
	}
	retries[failed.role]++
	return a.replicas
}

func (a *fakeApp) finish() {
	a.finished = time.Now()
	var states []runner.State
	for _, r := range a.replicas {
		states = append(states, r.status.State)
	}
	if a.state = runner.FoldState(states); a.cancelled && a.state != tracker.Succeeded {
		a.state = tracker.Cancelled
	}
	a.stop(nil)
}

// attempt runs all replicas until all have ended, which they do when one fails, and
// gives the first that failed.
func (a *fakeApp) attempt(ctx context.Context, n int, replicas []*fakeReplica) *fakeReplica {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.fake.mu.Lock()
	a.state = tracker.Running
	if a.started.IsZero() {
		a.started = time.Now()
	}
	a.fake.mu.Unlock()
	var wg sync.WaitGroup
	var once sync.Once
	var first *fakeReplica
	for _, r := range replicas {
		wg.Go(func() {
			if r.run(ctx, n) == tracker.Failed {
				once.Do(func() { first = r })
				stop()
			}
		})
	}
	wg.Wait()
	return first
}

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Status says where an app stands.
func (s *Scheduler) Status(_ context.Context, h runner.Handle) (runner.AppStatus, error) {
	l, err := s.newest(h)
	if err != nil {
		return runner.AppStatus{}, err
	}
	return l.status(h)
}

func (l launch) status(h runner.Handle) (runner.AppStatus, error) {
	plan, err := l.plan()
	if err != nil {
		return runner.AppStatus{}, err
	}
	st, e, err := l.state()
	if err != nil {
		return runner.AppStatus{}, err
	}
	status := runner.AppStatus{Handle: h, State: st, Submitted: plan.Planned, Message: e.Message, NumRestarts: e.Restarts, Started: e.Started, Ended: e.Ended}
	var who supervisor
	if ok, err := l.read(supervisorFile, &who); err != nil {
		return status, err
	} else if ok {
		status.JobID = fmt.Sprint(who.PID)
	}
	var begun started
	if ok, err := l.read(startedFile, &begun); err != nil {
		return status, err
	} else if ok {
		status.UIURL, _ = store.CanonicalURI(begun.LogDir, "/")
		if status.Started.IsZero() {
			status.Started = begun.Time
		}
	}
	if st == tracker.Lost {
		status.Message = "its supervisor is gone and left no word of its end"
	}
	return status, l.addReplicas(&status, &plan.App, e.Replicas)
}

// state is where the app stands, and how it ended, if it did.
func (l launch) state() (tracker.State, end, error) {
	var e end
	ended, err := l.read(endFile, &e)
	if err != nil || ended {
		return e.State, e, err
	}
	if l.lives() {
		if l.has(startedFile) {
			return tracker.Running, e, nil
		}
		return tracker.Pending, e, nil
	}
	if ended, err = l.read(endFile, &e); err != nil || ended { // it may have ended just now
		return e.State, e, err
	}
	if !l.has(planFile) {
		return "", e, &store.Error{Op: "find app", Key: l.dir, Kind: store.ErrNotExist, Err: errors.New("it was deleted just now")}
	}
	return tracker.Lost, e, nil
}

// addReplicas adds how each stands; ended are those that the end tells of.
func (l launch) addReplicas(status *runner.AppStatus, app *runner.App, ended []runner.ReplicaExit) error {
	first := 0
	for i := range app.Roles {
		role := runner.RoleStatus{Role: app.Roles[i].Name}
		for k := range app.Roles[i].NumReplicas {
			exit, known, err := l.replica(role.Role, k, ended)
			if err != nil {
				return err
			}
			one := runner.ReplicaStatus{ID: k, Role: role.Role, State: tracker.Pending}
			if known {
				one = replicaStatus(exit)
				if first == 0 || exit.Attempt < first {
					first = exit.Attempt
				}
			}
			settle(&one, status.State)
			if status.Error == nil {
				status.Error = one.Error
			}
			status.NumRestarts = max(status.NumRestarts, one.Attempt-1)
			role.Replicas = append(role.Replicas, one)
		}
		status.Roles = append(status.Roles, role)
	}
	return nil
}

// settle makes the state of a replica one that can be, given that of its app.
func settle(r *runner.ReplicaStatus, app tracker.State) {
	switch {
	case r.State.Terminal() || app == tracker.Running || app == tracker.Pending:
	case app == tracker.Lost:
		r.State = tracker.Lost
	default: // the app ended, and this one never started
		r.State = tracker.Cancelled
	}
}

func replicaStatus(e runner.ReplicaExit) runner.ReplicaStatus {
	s := runner.ReplicaStatus{
		ID: e.Replica, Role: e.Role, State: e.State, Hostname: e.Host, Attempt: e.Attempt, PID: e.PID,
		Signal: e.Signal, Reason: e.Error, Started: e.Started, Ended: e.Ended,
	}
	if e.State.Terminal() && e.Signal == "" {
		s.ExitCode = &e.ExitCode
	}
	if body, err := os.ReadFile(filepath.Join(e.LogDir, "error.json")); err == nil && e.LogDir != "" && len(body) > 0 {
		s.Error = runner.ParseReplicaError(body)
	}
	return s
}

// Wait returns when the app has ended, or its supervisor is gone. It asks nothing
// meanwhile: the kernel tells.
func (s *Scheduler) Wait(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	for {
		l, err := s.newest(h)
		if err != nil {
			return runner.AppStatus{}, err
		}
		if err := l.awaitGone(ctx); err != nil {
			return runner.AppStatus{}, err
		}
		status, err := l.status(h)
		if err != nil || status.Settled() {
			return status, err
		}
		select { // the pipe and the state disagree for a moment only
		case <-ctx.Done():
			return status, context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// pause is between looks at what nobody tells of.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}

package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/tracker"
)

// view is what Slurm says of an app now.
type view struct {
	jobs []job // components and tasks; none = Slurm does not know it (any more)
	err  error // Slurm did not answer
}

// main is the job that the batch script belongs to: the first component.
func (v view) main() *job {
	for i := range v.jobs {
		if v.jobs[i].ID == v.jobs[i].Leader || strings.HasSuffix(v.jobs[i].ID, "+0") || v.jobs[i].Task != "" {
			return &v.jobs[i]
		}
	}
	return nil
}

// Status joins what Slurm says with what the nodes wrote. An end that a node wrote is
// the truth; Slurm is asked only about what has not ended.
func (s *Scheduler) Status(ctx context.Context, h runner.Handle) (runner.AppStatus, error) {
	a, err := s.open(h)
	if err != nil {
		return runner.AppStatus{}, err
	}
	if a.isArray() {
		return s.arrayStatus(ctx, a)
	}
	return s.statusOf(ctx, a, nil)
}

// statusOf is Status. known is what Slurm said already; nil = it is asked, if need be.
func (s *Scheduler) statusOf(ctx context.Context, a *app, known *view) (runner.AppStatus, error) {
	attempts, err := a.dir.attempts()
	if err != nil {
		return runner.AppStatus{}, err
	}
	status := a.outline(attempts)
	if v, err := readJSON[verdict](a.dir.file("verdict.json")); err == nil {
		status.State, status.Message, status.Ended = v.State, v.Message, v.Ended
		a.addReplicas(&status, attempts)
		return status, nil
	}
	if last := lastOf(attempts); last == nil || !final(last) {
		if known == nil {
			known = s.look(ctx, a)
		}
		if err := s.judge(a, &status, attempts, *known); err != nil {
			return runner.AppStatus{}, err
		}
		if attempts, err = a.dir.attempts(); err != nil { // what ended while Slurm was asked
			return runner.AppStatus{}, err
		}
		if last := lastOf(attempts); last != nil && final(last) && (status.State == tracker.Running || status.State == tracker.Lost) {
			status = a.outline(attempts)
		}
	}
	a.addReplicas(&status, attempts)
	return status, nil
}

func lastOf(attempts []attempt) *attempt {
	if len(attempts) == 0 {
		return nil
	}
	return &attempts[len(attempts)-1]
}

// final says whether an attempt has ended and none will follow, whatever Slurm says.
// After a failure one may: what looks like one to the replicas may be a node that
// went, for which Slurm requeues the job.
func final(a *attempt) bool {
	return !a.Ended.IsZero() && (a.State == tracker.Succeeded || a.State == tracker.Cancelled && a.Reason == stopCancelled)
}

// outline is the status as the attempts alone tell it.
func (a *app) outline(attempts []attempt) runner.AppStatus {
	status := runner.AppStatus{
		Handle: a.handle, State: tracker.Submitted, JobID: a.target(), Submitted: cmp.Or(a.sub.Time, a.sub.Intent),
	}
	last := lastOf(attempts)
	if last == nil {
		return status
	}
	status.NumRestarts, status.Started = len(attempts)-1, attempts[0].Started
	status.State, status.Message = last.State, last.Reason
	if !last.Ended.IsZero() && !last.Requeue {
		status.Ended = last.Ended
	}
	return status
}

// look asks Slurm: scontrol for what it still knows, then sacct.
func (s *Scheduler) look(ctx context.Context, a *app) *view {
	if a.sub.JobID == "" {
		id, err := s.find(ctx, a.plan)
		if id == "" {
			return &view{err: err}
		}
		a.sub.JobID = id
	}
	jobs, err := s.slurm.show(ctx, a.target())
	if err == nil && len(jobs) == 0 {
		jobs, err = s.slurm.account(ctx, a.target())
	}
	return &view{jobs: jobs, err: err}
}

// judge settles the state of an app that has not said that it ended.
func (s *Scheduler) judge(a *app, status *runner.AppStatus, attempts []attempt, v view) error {
	last := lastOf(attempts)
	_, wished := (&place{base: a.base, dir: a.dir}).isStopped()
	j := v.main()
	if j == nil && v.err != nil {
		if said(last) && s.opts.Now().Sub(last.Ended) > certainAfter {
			return nil // Slurm had its time to start it again
		}
		return v.err
	}
	if j == nil {
		status.State, status.Message = purged(last, wished)
		return s.settle(a, status, status.State != tracker.Lost)
	}
	status.JobID = cmp.Or(status.JobID, j.ID)
	state := stateOf(j.State)
	switch {
	case state == tracker.Pending:
		status.State, status.Message, status.Ended = tracker.Pending, j.Reason, time.Time{}
	case state == tracker.Running && last != nil && last.Requeue:
		status.State, status.Message = tracker.Pending, "a retry is due"
	case state == tracker.Running:
		status.State, status.Message, status.Ended = tracker.Running, "", time.Time{}
	case state == tracker.Unknown:
		status.State, status.Message = tracker.Unknown, "Slurm calls its state "+j.State
	default:
		a.ended(status, last, *j, state, wished)
		return s.settle(a, status, status.State != tracker.Lost)
	}
	return nil
}

// purged judges an app that Slurm has forgotten and that did not say how it ended.
func purged(last *attempt, wished bool) (runner.State, string) {
	switch {
	case last == nil && wished:
		return tracker.Cancelled, stopCancelled + " before it began"
	case last == nil:
		return tracker.Lost, "Slurm does not know the job any more, and it never began"
	case last.Requeue:
		return tracker.Failed, "the retry did not take place, and Slurm does not know the job any more"
	case !last.Ended.IsZero():
		return last.State, last.Reason
	}
	return tracker.Lost, "Slurm does not know the job any more, and it did not say how it ended"
}

// certainAfter is how long after a failure that no word of Slurm confirms another
// attempt is to be expected.
const certainAfter = 10 * time.Minute

// said says whether an attempt told its own end, and no retry is due.
func said(a *attempt) bool { return a != nil && !a.Ended.IsZero() && !a.Requeue }

// ended judges an app that Slurm says has ended, in that state.
func (a *app) ended(status *runner.AppStatus, last *attempt, j job, state runner.State, wished bool) {
	status.Ended = j.Ended
	switch {
	case said(last) && (state == tracker.Succeeded || j.State == "FAILED"):
		status.State, status.Message, status.Ended = last.State, last.Reason, last.Ended
	case state == tracker.Cancelled || wished:
		status.State, status.Message = tracker.Cancelled, stopCancelled
	case state == tracker.Succeeded: // by Slurm's account alone, which says nothing of the replicas
		status.State, status.Message = tracker.Lost, "Slurm says COMPLETED, but the job did not say how it ended; its log is "+a.batchLog()
	default:
		status.State = tracker.Failed
		status.Message = strings.TrimSpace(fmt.Sprintf("Slurm says %s %s", j.State, j.Reason))
		if j.HasExit && j.Code != 0 {
			status.Message += fmt.Sprintf(", exit code %d", j.Code)
		}
		if last == nil {
			status.Message += "; it ended before a replica started, its log is " + a.batchLog()
		}
	}
}

// batchLog is where what the batch script printed is.
func (a *app) batchLog() string {
	if a.option("script") != "" {
		return "where the script's #SBATCH lines say"
	}
	return a.base.file("slurm-*.out")
}

// settle keeps a judgement that Slurm's word was needed for, since it forgets.
func (s *Scheduler) settle(a *app, status *runner.AppStatus, sure bool) error {
	if !sure || !status.State.Terminal() {
		return nil
	}
	if status.Ended.IsZero() {
		status.Ended = s.opts.Now().UTC()
	}
	return writeJSON(a.dir.file("verdict.json"), verdict{State: status.State, Message: status.Message, Ended: status.Ended})
}

// addReplicas tells where each replica stands in the last attempt.
func (a *app) addReplicas(status *runner.AppStatus, attempts []attempt) {
	number := 0
	if last := lastOf(attempts); last != nil {
		number = last.Number
	}
	for i := range a.plan.App.Roles {
		role := &a.plan.App.Roles[i]
		rs := runner.RoleStatus{Role: role.Name}
		for k := range role.NumReplicas {
			rs.Replicas = append(rs.Replicas, a.replica(*status, role.Name, k, number))
		}
		status.Roles = append(status.Roles, rs)
	}
	if first := status.FirstFailure(); first != nil {
		status.Error = first.Error
	}
}

func (a *app) replica(app runner.AppStatus, role string, k, number int) runner.ReplicaStatus {
	r := runner.ReplicaStatus{ID: k, Role: role, State: app.State}
	if number == 0 {
		return r
	}
	exit, err := runner.ReadReplicaExit(a.dir.replicaFile(number, role, k))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if app.State == tracker.Succeeded || app.State == tracker.Failed {
			r.State = tracker.Lost
		}
		return r
	case err != nil:
		r.State, r.Reason = tracker.Unknown, err.Error()
		return r
	}
	r.State, r.Hostname, r.Attempt, r.PID, r.Started, r.Ended = exit.State, exit.Host, exit.Attempt, exit.PID, exit.Started, exit.Ended
	r.Signal, r.Reason = exit.Signal, exit.Error
	if exit.State == tracker.Running {
		switch { // it did not get to write its end
		case app.State == tracker.Pending:
			r.State = tracker.Pending
		case app.State == tracker.Cancelled:
			r.State = tracker.Cancelled
		case app.Settled():
			r.State = tracker.Lost
		}
		return r
	}
	if exit.Signal == "" && exit.PID != 0 || exit.ExitCode == 126 || exit.ExitCode == 127 {
		code := exit.ExitCode
		r.ExitCode = &code
	}
	if body, err := os.ReadFile(filepath.Join(exit.LogDir, errorFile)); err == nil {
		r.Error = runner.ParseReplicaError(body)
	}
	return r
}

// arrayStatus folds the tasks of an array.
func (s *Scheduler) arrayStatus(ctx context.Context, a *app) (runner.AppStatus, error) {
	v := s.look(ctx, a)
	byTask := map[string]view{}
	for _, j := range v.jobs {
		byTask[j.Task] = view{jobs: []job{j}}
	}
	for _, id := range a.base.tasks() {
		if _, ok := byTask[id]; !ok {
			byTask[id] = view{err: v.err}
		}
	}
	if len(byTask) == 0 {
		return s.statusOf(ctx, a, v)
	}
	status := a.outline(nil)
	var states []runner.State
	counts := map[runner.State]int{}
	for _, id := range slices.SortedFunc(maps.Keys(byTask), compareTasks) {
		one, its := *a, byTask[id]
		one.task, one.dir = id, a.base.task(id)
		st, err := s.statusOf(ctx, &one, &its)
		if err != nil {
			return runner.AppStatus{}, err
		}
		states = append(states, st.State)
		counts[st.State]++
		status.Roles = append(status.Roles, ofTask(id, st.Roles)...)
		status.Started, status.Ended = earlier(status.Started, st.Started), later(status.Ended, st.Ended)
	}
	status.State = foldTasks(states)
	status.Message = countsText(counts)
	if first := status.FirstFailure(); first != nil {
		status.Error = first.Error
	}
	if !status.Settled() {
		status.Ended = time.Time{}
	}
	return status, nil
}

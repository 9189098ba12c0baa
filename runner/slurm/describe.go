package slurm

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Describe tells what was submitted and where it stands.
func (s *Scheduler) Describe(ctx context.Context, h runner.Handle) (runner.Description, error) {
	a, err := s.open(h)
	if err != nil {
		return runner.Description{}, err
	}
	status, err := s.Status(ctx, h)
	if err != nil {
		return runner.Description{}, err
	}
	return runner.Description{
		Handle: a.handle, App: a.plan.App, Status: status, User: a.sub.User, Dir: a.plan.Dir, LogDir: a.dir.file("logs"),
		Options: a.plan.Options, Metadata: submissionOf(a.sub, a.base).Metadata,
	}, nil
}

// List yields what was submitted from here, the youngest first, and with query.All
// what else is in Slurm's queue, by Slurm's own numbers. Slurm is asked once.
func (s *Scheduler) List(ctx context.Context, query runner.ListQuery) iter.Seq2[runner.ListEntry, error] {
	return func(yield func(runner.ListEntry, error) bool) {
		list, listErr := s.list(ctx, query)
		n := 0
		for _, e := range list {
			if len(query.States) > 0 && !slices.Contains(query.States, e.State) || e.Submitted.Before(query.Since) {
				continue
			}
			if n++; query.Limit > 0 && n > query.Limit || !yield(e, nil) {
				return
			}
		}
		if listErr != nil {
			yield(runner.ListEntry{}, listErr)
		}
	}
}

// list gives what there is beside an error.
func (s *Scheduler) list(ctx context.Context, query runner.ListQuery) ([]runner.ListEntry, error) {
	names, err := os.ReadDir(s.opts.StateDir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	jobs, queueErr := s.slurm.queue(ctx)
	var list []runner.ListEntry
	ours := map[string]bool{}
	for _, name := range names {
		e, err := readJSON[entry](filepath.Join(s.opts.StateDir, name.Name(), "app.json"))
		if err != nil {
			continue // the programs for the nodes, or one that is being deleted
		}
		one, id, err := s.listed(ctx, e.Handle, jobs, queueErr)
		if err != nil {
			return nil, err
		}
		ours[id] = true
		list = append(list, one)
	}
	if query.All {
		list = append(list, foreign(jobs, ours)...)
	} else {
		queueErr = nil // what was submitted from here is known without
	}
	slices.SortStableFunc(list, func(a, b runner.ListEntry) int { return b.Submitted.Compare(a.Submitted) })
	return list, queueErr
}

// listed is an entry for an app that was submitted from here. Where Slurm did not
// answer, one that has not said that it ended is Unknown.
func (s *Scheduler) listed(ctx context.Context, h runner.Handle, jobs []job, queueErr error) (runner.ListEntry, string, error) {
	a, err := s.open(h)
	if errors.Is(err, store.ErrNotExist) { // its submission was cut short, or it is being deleted
		return runner.ListEntry{Handle: h, State: tracker.Unknown}, "", nil
	}
	if err != nil {
		return runner.ListEntry{}, "", err
	}
	v := view{err: queueErr}
	for _, j := range jobs {
		if j.Leader == a.sub.JobID {
			v.jobs = append(v.jobs, j)
		}
	}
	known := &v
	if a.isArray() || queueErr == nil && len(v.jobs) == 0 {
		known = nil // sacct may know
	}
	var status runner.AppStatus
	if a.isArray() {
		status, err = s.arrayStatus(ctx, a)
	} else {
		status, err = s.statusOf(ctx, a, known)
	}
	if err != nil && queueErr != nil {
		status, err = a.outline(nil), nil
		status.State = tracker.Unknown
	}
	return runner.ListEntry{
		Handle: a.handle, Name: a.plan.App.Name, State: status.State, JobID: status.JobID, User: a.sub.User,
		Submitted: status.Submitted, Ended: status.Ended,
	}, a.sub.JobID, err
}

// foreign lists the jobs of others, or that heirloom did not submit.
func foreign(jobs []job, ours map[string]bool) []runner.ListEntry {
	var list []runner.ListEntry
	for _, j := range jobs {
		if ours[j.Leader] || j.ID != j.Leader && j.Task == "" {
			continue
		}
		h := runner.Handle{Scheduler: Name, App: j.ID}
		if run, _, ok := ofComment(j.Comment); ok {
			if named, err := runner.ParseHandle(run); err == nil {
				h = named
			}
		}
		list = append(list, runner.ListEntry{
			Handle: h, Name: store.Redact(j.Name), State: stateOf(j.State), JobID: j.ID, User: j.User, Submitted: j.Submitted, Ended: j.Ended,
		})
	}
	return list
}

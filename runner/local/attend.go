package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// mainRole is what the launcher calls the only role of a plain command.
const mainRole = "main"

// RunJob is launcher.Run for a command that is supervised in this process. Any other
// process sees it as an app that was submitted, with one replica of the role main, unless
// its id is of another scheduler. Where its state cannot be kept it runs all the same:
// the first of Started.Notices says so then.
func (s *Scheduler) RunJob(ctx context.Context, launcher *runner.Launcher, job runner.Job, onStart func(runner.Started)) (runner.Result, error) {
	plan, err := s.planOf(launcher, &job)
	if err != nil {
		return runner.Result{}, err
	}
	if plan == nil {
		return launcher.Run(ctx, job, onStart)
	}
	l, release, err := s.occupy(plan)
	if err != nil {
		return launcher.Run(ctx, job, func(st runner.Started) {
			st.Notices = append([]string{"other shells cannot follow or cancel this run: " + store.Redact(err.Error())}, st.Notices...)
			tellStarted(onStart, st)
		})
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop, err := l.obey(cancel)
	if err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	defer stop()
	job.OnReplica = l.noteReplica
	if job.Cgroups == nil {
		job.Cgroups, _ = config{}.groups(&plan.App)
	}
	begun := false
	result, err := launcher.Run(ctx, job, func(st runner.Started) {
		begun = true
		if err := l.begin(st, logRoot(st.LogDir)); err != nil {
			st.Notices = append(st.Notices, err.Error())
		}
		tellStarted(onStart, st)
	})
	if !begun {
		return result, errors.Join(err, l.remove())
	}
	return result, errors.Join(err, l.end(result, err, ""))
}

func tellStarted(onStart func(runner.Started), st runner.Started) {
	if onStart != nil {
		onStart(st)
	}
}

// planOf is the plan that stands for a job in the state, nil if the job's id is of another
// scheduler. A job without an id gets one.
func (s *Scheduler) planOf(launcher *runner.Launcher, job *runner.Job) (*runner.Plan, error) {
	if job.RunID == "" {
		if job.Name == "" {
			job.Name = runner.CommandName(job.Args)
		}
		id, err := tracker.NewRunID(Name, job.Session, store.Redact(job.Name))
		if err != nil {
			return nil, err
		}
		job.RunID, job.Fresh = id, true
	}
	h, err := runner.ParseHandle(string(job.RunID))
	if err != nil || h.Scheduler != Name {
		return nil, nil //nolint:nilerr // an id of another form is none of ours
	}
	name := store.Redact(job.Name)
	role := runner.Role{Name: mainRole, NumReplicas: 1}
	if len(job.Args) > 0 {
		role.Entrypoint = job.Args[0]
		for _, arg := range job.Args[1:] {
			role.Args = append(role.Args, runner.EscapeMacros(arg))
		}
	}
	return &runner.Plan{
		Version: runner.PlanVersion, RunID: job.RunID, Handle: h, Launch: rand.Text(), Fresh: job.Fresh, Scheduler: Name, Session: h.Session,
		App: runner.App{Name: cmp.Or(name, h.App), Roles: []runner.Role{role}}, Dir: job.Dir, Planned: time.Now().UTC(),
		Recording: runner.Recording{Store: launcher.Store.URL(), Name: name, Project: job.Project, Experiment: job.Experiment, Parent: job.Parent},
	}, nil
}

// occupy makes the directory of a launch of which this process is the supervisor, until
// it releases it.
func (s *Scheduler) occupy(plan *runner.Plan) (l launch, release func(), err error) {
	if l, _, err = s.begin(plan); err != nil {
		return l, nil, err
	}
	alive, err := l.hold()
	if err == nil {
		if err = l.write(supervisorFile, self(s.opts.Environ), false); err != nil {
			_ = alive.Close()
		}
	}
	if err != nil {
		return l, nil, errors.Join(stateError(err), l.remove())
	}
	return l, func() { _ = alive.Close() }, nil
}

// logRoot is the directory of all logs of a run whose only replica has this one.
func logRoot(dir string) string { return filepath.Dir(filepath.Dir(filepath.Dir(dir))) }

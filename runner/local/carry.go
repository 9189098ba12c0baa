package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/workspace"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Foreground is what an app that the caller supervises is joined to.
type Foreground struct {
	Stdin          io.Reader // of the one replica; of several none gets it
	Stdout, Stderr io.Writer // shown here as the replicas write; nil = only kept in the logs
	// Prefix is put before each line of several replicas; nil = "role/replica ".
	Prefix func(role string, replica int) string
	// OnStart, unless nil, is called when all is recorded and the app is about to start.
	OnStart func(runner.Started)
	// Launcher records the app; nil = Options.Launcher makes one.
	Launcher *runner.Launcher
}

// RunForeground runs an app to its end in this process, as its supervisor. Any other
// process sees it as one that was submitted. Errors and results are those of
// runner.Launcher.Run.
func (s *Scheduler) RunForeground(ctx context.Context, plan *runner.Plan, fg Foreground) (runner.Result, error) {
	l, known, err := s.begin(plan)
	if err != nil {
		return runner.Result{}, err
	}
	if known {
		return runner.Result{}, fmt.Errorf("run %s: this plan was submitted already: %w", plan.Handle, store.ErrExist)
	}
	alive, err := l.hold()
	if err != nil {
		_ = l.remove()
		return runner.Result{}, stateError(err)
	}
	defer func() { _ = alive.Close() }()
	if fg.Prefix == nil {
		fg.Prefix = func(role string, k int) string { return role + "/" + strconv.Itoa(k) + " " }
	}
	return s.carry(ctx, l, plan, fg)
}

// begin makes the directory of a launch, unless the plan has one already.
func (s *Scheduler) begin(plan *runner.Plan) (l launch, known bool, err error) {
	if plan.Scheduler != Name {
		return l, false, fmt.Errorf("the plan of %s is for scheduler %s: %w", plan.Handle, plan.Scheduler, store.ErrInvalid)
	}
	s.prune(plan)
	dir := s.appDir(plan.Handle)
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return l, false, stateError(err)
		}
		n, err := lastLaunch(dir)
		if err != nil {
			return l, false, err
		}
		if n > 0 {
			l = s.launch(plan.Handle, n)
			if last, err := l.plan(); err == nil && last.Launch == plan.Launch && plan.Launch != "" {
				return l, true, nil
			}
		}
		l = s.launch(plan.Handle, n+1)
		err = l.make(plan)
		if err != nil {
			_ = os.Remove(dir) // refused while there are others
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) { // else another submitted it, or removed it
			return l, false, err
		}
	}
}

// make makes the directory whole under another name, so that who finds it finds all.
func (l launch) make(plan *runner.Plan) error {
	temp, err := os.MkdirTemp(filepath.Dir(l.dir), ".new-*")
	if err != nil {
		return stateError(err)
	}
	draft := launch{temp}
	if err = draft.write(planFile, plan.Redacted(), true); err == nil {
		err = draft.makePipes()
	}
	if err == nil {
		err = draft.reserveEnd(plan.App.Replicas())
	}
	if err == nil {
		err = renameNew(temp, l.dir) // one of several that ask at once gets it
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	return err
}

// remove forgets a launch that came to nothing, and the app if it has no other.
func (l launch) remove() error {
	err := workspace.Remove(l.dir)
	_ = os.Remove(filepath.Dir(l.dir)) // refused while there are others
	return err
}

// carry supervises the app to its end. The caller holds alive.
func (s *Scheduler) carry(ctx context.Context, l launch, plan *runner.Plan, fg Foreground) (runner.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	launcher, done, err := s.launcher(ctx, l, plan, fg)
	if err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	defer func() { _ = done() }()
	stop, err := l.obey(cancel)
	if err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	defer stop()
	if err := l.write(supervisorFile, self(s.opts.Environ), false); err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	laid, err := l.layOut(ctx, launcher.Store, &plan.App)
	if err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	job, err := s.job(l, plan, fg, laid)
	if err != nil {
		return runner.Result{}, errors.Join(err, l.remove())
	}
	begun := false
	result, err := launcher.Run(ctx, job, func(st runner.Started) {
		begun = true
		if err := l.begin(st, st.LogDir); err != nil {
			st.Notices = append(st.Notices, err.Error())
		}
		if fg.OnStart != nil {
			fg.OnStart(st)
		}
	})
	if !begun {
		return result, errors.Join(err, l.remove())
	}
	kept, keptErr := laid.settle(context.WithoutCancel(ctx))
	if keptErr != nil {
		result.Warnings = append(result.Warnings, keptErr.Error())
	}
	if kept != "" {
		result.Warnings = append(result.Warnings, kept)
	}
	return result, errors.Join(err, l.end(result, err, kept))
}

// begin keeps that the app starts, and where the logs of all its replicas are.
func (l launch) begin(st runner.Started, logs string) error {
	return l.write(startedFile, started{store.RedactURL(st.Store), st.OutputDir, logs, time.Now().UTC()}, false)
}

// end keeps how the app ended, and a message that goes with it.
func (l launch) end(result runner.Result, err error, message string) error {
	e := end{
		State: result.State, ExitCode: result.ExitCode, Signal: result.Signal, Restarts: result.Restarts,
		Started: result.Started.UTC(), Ended: result.Ended.UTC(), Message: message, Replicas: result.Replicas,
	}
	if err != nil {
		e.Message = strings.TrimPrefix(message+"; "+store.Redact(err.Error()), "; ")
	}
	if !e.State.Terminal() {
		e.State = tracker.Failed
	}
	return l.writeEnd(e)
}

// launcher gives the one that records the plan's run. What is to be recorded nowhere is
// recorded beside the state, and goes with it.
func (s *Scheduler) launcher(ctx context.Context, l launch, plan *runner.Plan, fg Foreground) (*runner.Launcher, func() error, error) {
	if fg.Launcher != nil {
		return fg.Launcher, func() error { return nil }, nil
	}
	if s.opts.Launcher == nil {
		return nil, nil, fmt.Errorf("nothing here makes a launcher: %w", store.ErrUnsupported)
	}
	url := plan.Recording.Store
	if url == "" && plan.Recording.Tracker == "" {
		url = l.path("store")
	}
	return s.opts.Launcher(ctx, url, plan.Recording.Tracker)
}

// job is the launcher's view of a plan.
func (s *Scheduler) job(l launch, plan *runner.Plan, fg Foreground, laid copies) (runner.Job, error) {
	request, err := requestOf(plan)
	if err != nil {
		return runner.Job{}, err
	}
	var cfg config
	if err := s.options.Decode(plan.Options, &cfg); err != nil {
		return runner.Job{}, err
	}
	groups, err := cfg.groups(&plan.App)
	if err != nil {
		return runner.Job{}, err
	}
	r := plan.Recording
	job := runner.Job{
		App: plan.App, Dir: plan.Dir, Environ: s.environ(request.Path),
		Name: r.Name, Project: r.Project, Experiment: r.Experiment,
		RunID: plan.RunID, Fresh: plan.Fresh, Resume: r.Resume, Force: r.Force, Session: plan.Session, Parent: r.Parent,
		Params: r.Params, ParamsFromArgs: r.ParamsFromArgs, Tags: r.Tags, Sources: r.Sources, Outputs: r.Outputs, Hash: r.Hash,
		Fsspec: r.Fsspec, Grace: r.Grace, SyncEvery: r.SyncEvery,
		Stdin: fg.Stdin, Stdout: fg.Stdout, Stderr: fg.Stderr, Prefix: fg.Prefix,
		OnReplica: l.noteReplica, ReplicaEnv: request.env, Cgroups: groups, Enforce: cfg.Enforce,
	}
	if plan.Fresh {
		job.Name = cmp.Or(r.Name, plan.App.Name)
	}
	if plan.App.Replicas() == 1 && len(request.Replicas) == 1 {
		job.Args = request.Replicas[0].Command
	}
	laid.place(&job, plan, request, cfg.PrependCWD)
	return job, nil
}

// environ is that of the replicas, with this PATH.
func (s *Scheduler) environ(path string) []string {
	environ := slices.Clone(s.opts.Environ)
	if path != "" && path != lookup(environ, "PATH") {
		environ = append(environ, "PATH="+path)
	}
	return environ
}

// self is this process as a supervisor.
func self(environ []string) supervisor {
	host, _ := os.Hostname()
	return supervisor{PID: os.Getpid(), Birth: birth(), BootID: bootID(), Host: host, User: runner.UserName(environ), Started: time.Now().UTC()}
}

package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// stoppedCode is the exit code of an app that was to end before it began: that of SIGTERM.
const stoppedCode = 143

// batch is one attempt, seen from the batch script.
type batch struct {
	*place
	signals *process.Signals
	slurm   *client
	records *runner.Launcher // nil = the run is recorded nowhere else
	number  int              // of the attempt; 0 until it is known
	began   time.Time

	stop     string // why it is to end, as Slurm or a person said; "" = it is not
	cancel   bool   // a person, or scancel
	orders   int    // given
	replicas []runner.ReplicaExit
}

// RunBatch is the batch script's side of an attempt: it records it, runs the
// replicas, writes how they ended, and asks Slurm for another attempt where a retry is
// due. It returns the exit code of the script, which is the app's.
func RunBatch(ctx context.Context, n Node) (int, error) {
	signals := process.Catch()
	defer signals.Close()
	p, err := n.open()
	if err != nil {
		return runner.NoExitCode, err
	}
	b := &batch{place: p, signals: signals, slurm: newClient(n.Environ, 0), began: time.Now()}
	if s, is := p.isStopped(); is {
		b.warn("cancelled at %s, before it began", s.Time.Format(time.RFC3339))
		return stoppedCode, nil
	}
	if err := b.restore(ctx); err != nil {
		return b.finish(ctx, process.Exit{Code: runner.NoExitCode}, tracker.Failed, err)
	}
	if p.plan.Recording.Store == "" {
		exit, err := b.execute(ctx, runner.Started{}, with(n.Environ, map[string]string{
			envAttempt: strconv.Itoa(p.restarts() + 1), envRun: string(p.run), envTorchXJob: string(p.run),
		}))
		return b.finish(ctx, exit, b.stateOf(exit), err)
	}
	launcher, closing, err := n.Launcher(ctx, p.plan.Recording)
	if err != nil {
		return b.finish(ctx, process.Exit{Code: runner.NoExitCode}, tracker.Failed, fmt.Errorf("open store: %w", err))
	}
	b.records, launcher.TempDir = launcher, p.dir.file("scratch")
	if err := os.MkdirAll(launcher.TempDir, 0o700); err != nil {
		return runner.NoExitCode, errors.Join(err, closing())
	}
	result, err := launcher.Run(ctx, b.job(), nil)
	for _, w := range result.Warnings {
		b.warn("%s", w)
	}
	code, finishErr := b.finish(ctx, process.Exit{Code: result.ExitCode, Signal: result.Signal, Ended: result.Ended}, result.State, err)
	return code, errors.Join(finishErr, closing())
}

// job is what is recorded of the attempt: the command is that of the first role.
func (b *batch) job() runner.Job {
	rec, first := b.plan.Recording, b.plan.App.Roles[0]
	if b.plan.App.Replicas() == 1 { // else each has words of its own
		first = b.macros(&first, 0).Apply(first)
	}
	j := runner.Job{
		App: b.plan.App, Args: append([]string{first.Entrypoint}, first.Args...), Dir: b.plan.Dir, Environ: b.Environ,
		Name: rec.Name, Project: rec.Project, Experiment: rec.Experiment,
		RunID: b.run, Resume: rec.Resume, Force: rec.Force, Parent: rec.Parent,
		Params: rec.Params, ParamsFromArgs: rec.ParamsFromArgs, Tags: rec.Tags, Sources: rec.Sources,
		Outputs: rec.Outputs, Hash: rec.Hash, Fsspec: rec.Fsspec, Grace: rec.Grace, SyncEvery: rec.SyncEvery,
		Execute: b.execute, Requeued: b.comesAgain,
	}
	if j.Name == "" {
		j.Name = b.plan.App.Name
	}
	for _, role := range b.plan.App.Roles {
		j.Workspace = append(j.Workspace, role.Workspace...)
	}
	if b.restarts() > 0 {
		j.Resume = runner.ResumeAllow
	}
	if b.task != "" {
		j.Parent = b.plan.RunID
	}
	return j
}

// execute runs the replicas of the attempt whose start is recorded.
func (b *batch) execute(ctx context.Context, started runner.Started, environ []string) (process.Exit, error) {
	number, err := strconv.Atoi(lookup(environ, envAttempt))
	if err != nil {
		return process.Exit{}, fmt.Errorf("%s is %q, not a number", envAttempt, lookup(environ, envAttempt))
	}
	b.number = number
	logs := started.LogDir
	inPlace := logs != "" && !within(logs, b.dir.file("scratch"))
	if err := b.begin(logs, inPlace); err != nil {
		return process.Exit{}, diskError(err)
	}
	exit, err := b.runReplicas(ctx, b.childEnviron(environ))
	if logs != "" && !inPlace {
		err = errors.Join(err, copyLogs(b.dir.file("logs"), logs))
	}
	return exit, err
}

// begin writes that the attempt has begun. Logs are kept in the job directory, or in
// that of the run itself where it is on this file system.
func (b *batch) begin(logs string, inPlace bool) error {
	if inPlace {
		if err := os.MkdirAll(logs, 0o777); err != nil {
			return err
		}
		if err := os.Symlink(logs, b.dir.file("logs")); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return writeJSON(b.dir.attemptFile(b.number), b.record(tracker.Running))
}

func (b *batch) record(state tracker.State) attempt {
	return attempt{
		Number: b.number, JobID: lookup(b.Environ, "SLURM_JOB_ID"), Restarts: b.restarts(), Host: hostname(b.Environ),
		Nodes: lookup(b.Environ, "SLURM_JOB_NODELIST"), Started: b.began.UTC(), State: state,
	}
}

// childEnviron is the environment of srun and of the tasks.
func (b *batch) childEnviron(environ []string) []string {
	set := map[string]string{envRank0: b.firstHost()}
	o := filepath.Dir(programOf(b.plan, string(b.base)))
	set["PATH"] = lookup(environ, "PATH") + string(filepath.ListSeparator) + o
	return with(environ, set)
}

// stateOf judges the end of an attempt that is recorded nowhere else.
func (b *batch) stateOf(exit process.Exit) tracker.State {
	switch {
	case b.cancel:
		return tracker.Cancelled
	case exit.Code == 0 && exit.Signal == "":
		return tracker.Succeeded
	}
	return tracker.Failed
}

// finish writes how the attempt ended, after all else, and asks for another if one
// is due.
func (b *batch) finish(ctx context.Context, exit process.Exit, state tracker.State, cause error) (int, error) {
	if b.number == 0 {
		b.number = b.restarts() + 1
	}
	if cause != nil && state == tracker.Succeeded || state == tracker.Running || state == tracker.Unsubmitted {
		state = tracker.Failed
	}
	if exit.Code == 0 && state == tracker.Failed {
		exit.Code = runner.NoExitCode
	}
	a := b.record(state)
	a.Ended, a.ExitCode, a.Signal, a.Reason = time.Now().UTC(), exit.Code, exit.Signal, b.stop
	if cause != nil {
		a.Reason = store.Redact(cause.Error())
	}
	a.Requeue = state == tracker.Failed && b.stop == "" && b.retries()
	err := errors.Join(cause, diskError(writeJSON(b.dir.attemptFile(b.number), a)))
	if a.Requeue {
		err = errors.Join(err, b.requeue(ctx, a))
	}
	if b.cancel { // so that Slurm calls it cancelled too
		_, _ = b.slurm.run(context.WithoutCancel(ctx), "scancel", a.JobID)
	}
	return exit.Code, err
}

// comesAgain says whether a failed attempt is followed by another, which Slurm starts or
// is about to be asked for.
func (b *batch) comesAgain() bool {
	return b.stop == stopRequeued || b.stop == "" && b.retries()
}

// retries says whether a failed attempt is to be followed by another: the role that
// failed first has retries left. Attempts that Slurm itself took back do not count.
func (b *batch) retries() bool {
	failed := ""
	for _, r := range b.replicas {
		if r.State == tracker.Failed && r.PID == 0 { // what cannot start will not the next time
			return false
		}
		if r.State == tracker.Failed || r.State == tracker.Lost {
			failed = r.Role
			break
		}
	}
	role := b.plan.App.Role(failed)
	if role == nil {
		return false
	}
	before := 0
	list, err := b.dir.attempts()
	for _, a := range list {
		if a.Requeue {
			before++
		}
	}
	return err == nil && before < role.MaxRetries
}

// requeue asks Slurm for another attempt. Where it refuses, this one was the last.
func (b *batch) requeue(ctx context.Context, a attempt) error {
	_, err := b.slurm.run(context.WithoutCancel(ctx), "scontrol", "requeue", a.JobID)
	if err == nil {
		return nil
	}
	a.Requeue, a.Reason = false, store.Redact("no retry: "+err.Error())
	return errors.Join(fmt.Errorf("retry: %w", err), writeJSON(b.dir.attemptFile(b.number), a), b.forsake(ctx, a))
}

// forsake records that a run which was to be started again ended with this attempt.
func (b *batch) forsake(ctx context.Context, a attempt) error {
	if b.records == nil {
		return nil
	}
	end := tracker.AttemptEnd{Time: a.Ended, State: a.State, Signal: a.Signal}
	if a.Signal == "" {
		end.ExitCode = &a.ExitCode
	}
	return b.records.Forsake(context.WithoutCancel(ctx), b.run, end)
}

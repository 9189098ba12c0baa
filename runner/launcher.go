package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

const (
	beatEvery   = time.Minute
	endLimit    = 30 * time.Second // for recording the end when all else was called off
	stallLimit  = 5 * time.Second  // for a reader of our output that takes nothing
	gitOvertime = 2 * time.Second  // for git's answer after the job has ended
	gitOwn      = time.Second      // a job that runs longer than this gets git's answer recorded at once
)

// Run runs the job to its end and records it: one command, or the replicas of an
// app, in one attempt or, after failures, in as many as their policy allows. When a
// replica fails for good the others are ended. onStart may be nil; it is called
// once, when all that is known is recorded and the job is about to start, which
// is not at all where the start could not be recorded or the command does not
// exist.
//
// Signals (INT, TERM, HUP, QUIT, USR1, USR2, TSTP) go to the job while it runs.
// When nobody reads our output any more the job gets SIGPIPE, as if it wrote there itself.
// When ctx is cancelled the job gets SIGTERM and after the grace time SIGKILL; a
// further INT or TERM while the outputs are being registered stops that. The end
// is recorded in any case.
//
// The error is nil when the job ran and its end and outputs are recorded,
// whatever its exit code. With an error the Result still says what is known.
func (l *Launcher) Run(ctx context.Context, job Job, onStart func(Started)) (Result, error) {
	var signals *process.Signals
	if job.Execute == nil {
		signals = process.Catch()
		defer signals.Close()
	}
	r, err := l.plan(job)
	if err != nil {
		return Result{}, err
	}
	defer r.cleanUp()
	if err := r.recordStart(ctx); err != nil {
		return r.result, err
	}
	if onStart != nil {
		onStart(r.started())
	}
	if job.Execute != nil {
		return r.execute(ctx)
	}
	c := r.newCrew(signals)
	defer c.close()
	if err := c.start(ctx); err != nil {
		return r.notStarted(ctx, err)
	}
	exit, waitErr := r.attend(ctx, c.wait)
	endErr := r.recordEnd(ctx, exit)
	if n := c.drain(); n > 0 {
		r.warnf("%d bytes of output could not be shown; they are in the logs", n)
	}
	r.result.Warnings = r.warnings
	return r.result, errors.Join(waitErr, endErr)
}

// execute is Run for a job that is run by Job.Execute.
func (r *run) execute(ctx context.Context) (Result, error) {
	exit, err := r.attend(ctx, func(ctx context.Context) (process.Exit, error) {
		return r.job.Execute(ctx, r.started(), r.environ)
	})
	if exit.Ended.IsZero() {
		exit.Ended = r.now()
	}
	if err != nil && exit.Code == 0 && exit.Signal == "" {
		exit.Code = 125
	}
	endErr := r.recordEnd(ctx, exit)
	r.result.Warnings = r.warnings
	return r.result, errors.Join(err, endErr)
}

// run is a run in the making.
type run struct {
	*Launcher
	job     Job
	id      tracker.RunID
	parent  tracker.RunID // "" = none
	attempt int           // 0 until its start is recorded
	present atomic.Int64  // attempt, for who looks on
	launch  string        // random: what is left of an earlier attempt on this machine is not of this job
	earlier []tracker.Attempt
	begun   time.Time
	place   place
	shared  bool     // by a group, which may read and write all of it
	mirror  *mirror  // nil where the outputs are written in place, or not kept
	environ []string // the job's
	notices []string
	git     *gitAsk
	named   bool // the job was given a name
	// lostAfter is that of the attempt; 0 = we attend it.
	lostAfter time.Duration
	result    Result
	orphans   *process.Orphans

	mu       sync.Mutex // guards warnings
	warnings []string
	beatErr  error // the last; set by one goroutine, read after it
}

// plan settles all that needs no request to the store.
func (l *Launcher) plan(job Job) (*run, error) {
	if len(job.Args) == 0 && len(job.App.Roles) > 0 {
		job.Args = append([]string{job.App.Roles[0].Entrypoint}, job.App.Roles[0].Args...)
	}
	r := &run{Launcher: l, job: job, id: job.RunID, launch: rand.Text(), begun: l.now(), named: job.Name != ""}
	if err := r.findCommands(); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if l.Adopt {
		r.orphans, _ = process.Adopt() // without, what leaves a job in every way stays
	}
	r.job.Name, r.job.Project, r.job.Experiment = store.Redact(job.Name), store.Redact(job.Project), store.Redact(job.Experiment)
	if r.job.Name == "" && r.id == "" { // a further attempt keeps the name of the run
		r.job.Name = commandName(store.RedactArgs(job.Args))
	}
	var err error
	if r.parent, err = parentOf(job); err != nil {
		return nil, err
	}
	if r.id == "" {
		r.id, err = tracker.NewRunID("local", job.Session, r.job.Name)
	} else {
		r.id, err = tracker.ParseRunID(string(r.id))
	}
	if err != nil {
		return nil, err
	}
	if r.parent == r.id { // a further attempt, started from within the run
		r.parent = ""
	}
	r.result = Result{RunID: r.id, State: tracker.Unsubmitted, Started: r.begun}
	return r, nil
}

func (l *Launcher) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

func (r *run) warnf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

func (r *run) started() Started {
	return Started{RunID: r.id, Store: r.Store.URL(), OutputDir: r.place.dir, LogDir: r.place.logs, Notices: r.notices}
}

// findCommands makes sure that all that is to be started is there.
func (r *run) findCommands() error {
	if r.job.Execute != nil {
		return nil
	}
	if len(r.job.App.Roles) == 0 {
		_, err := (&process.Spec{Args: r.job.Args, Dir: r.job.Dir, Env: r.job.Environ}).Find()
		return err
	}
	if err := r.job.App.Validate(); err != nil {
		return err
	}
	for i := range r.job.App.Roles {
		role := &r.job.App.Roles[i]
		environ := with(r.job.Environ, role.Env)
		if r.job.ReplicaEnv != nil {
			more, err := r.job.ReplicaEnv(role.Name, 0)
			if err != nil {
				return err
			}
			environ = with(environ, more)
		}
		spec := process.Spec{Args: []string{role.Entrypoint}, Dir: r.dirOf(role), Env: environ}
		if _, err := spec.Find(); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
	}
	return nil
}

func (r *run) setAttempt(n int) {
	r.attempt = n
	r.present.Store(int64(n))
}

// attend waits for the job, and meanwhile asks git and shows that we are alive.
func (r *run) attend(ctx context.Context, wait func(context.Context) (process.Exit, error)) (process.Exit, error) {
	aside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	if r.leads() {
		r.git = askGit(aside, r.job.Dir, r.job.Environ)
		wg.Go(func() { r.recordGitOfLongJob(aside) })
	}
	wg.Go(func() { r.beat(aside) })
	wg.Go(func() { r.mirror.follow(aside, r.job.SyncEvery) })
	exit, err := wait(ctx)
	stop()
	wg.Wait()
	if r.beatErr != nil {
		r.warnf("a sign of life could not be recorded: %v", r.beatErr)
	}
	return exit, err
}

// beat records once a minute that the attempt is alive.
func (r *run) beat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.beatOnce(ctx); err != nil && ctx.Err() == nil {
				r.beatErr = err
			}
		}
	}
}

// beatOnce is of the attempt, and of our part in it where others have theirs.
func (r *run) beatOnce(ctx context.Context) error {
	if r.job.Launch != nil {
		if err := r.Tracker.BeatReplica(ctx, r.id, r.replica()); err != nil || !r.leads() {
			return err
		}
	}
	return r.Tracker.Beat(ctx, r.id, int(r.present.Load()))
}

// whileWanted is cancelled by an INT or TERM that comes after it was made, unless
// such signals are ignored, as under nohup.
func whileWanted(ctx context.Context) (context.Context, context.CancelFunc) {
	var heeded []os.Signal
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			heeded = append(heeded, sig)
		}
	}
	if len(heeded) == 0 { // which NotifyContext would take for all
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, heeded...)
}

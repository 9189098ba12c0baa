package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/heirloom-ml/heirloom/runner/process"
	"github.com/heirloom-ml/heirloom/tracker"
)

const reapEvery = 5 * time.Second // for orphans that ended while the job runs

// crew is the replicas of a run on this machine. Its fields belong to the goroutine
// that starts and waits.
type crew struct {
	*run
	tasks   []*task
	signals *process.Signals
	fan     *process.Fan     // nil where there is one replica, which gets the signals itself
	heard   *process.Signals // what all of them are told; nil without a fan
	guard   *process.Guard   // of all; nil where there is one replica, which has its own
	screen  *screen
	ended   chan ending
	live    int
	halted  bool   // nothing is started again
	stop    string // what all of them were told; "" = nothing
	lost    *task
	apps    int            // how often the whole app was started again
	roles   map[string]int // and all of a role
	procs   []*process.Process
}

// task is one replica: what it is, and its present or last process.
type task struct {
	role    *Role // nil: the command of the job, as it is
	name    string
	replica int

	attempt int
	retries int
	dir     string // of the logs
	proc    *process.Process
	cancel  context.CancelCauseFunc // nil while it does not run
	signals *process.Signals
	again   *restart // it is about to be started again
	exit    ReplicaExit
	raw     process.Exit
}

type ending struct {
	*task
	exit process.Exit
	err  error
}

var (
	errAppFailed = errors.New("another replica failed")
	errRestart   = errors.New("it is started again with another replica")
)

// newCrew lists the replicas, which are few enough to be held.
func (r *run) newCrew(signals *process.Signals) *crew {
	c := &crew{run: r, signals: signals, roles: map[string]int{}}
	if len(r.job.App.Roles) == 0 {
		c.tasks = []*task{{name: role, replica: r.replica().Number}}
	}
	for i := range r.job.App.Roles {
		role := &r.job.App.Roles[i]
		for k := range role.NumReplicas {
			c.tasks = append(c.tasks, &task{role: role, name: role.Name, replica: k})
		}
	}
	c.ended = make(chan ending, len(c.tasks))
	c.screen = &screen{prefix: r.job.Prefix, alone: len(c.tasks) == 1}
	return c
}

// start starts all replicas. When one cannot be started those before it are ended,
// and the error says why.
func (c *crew) start(ctx context.Context) error {
	if len(c.tasks) > 1 {
		c.guard = process.NewGuard(envLaunch + "=" + c.launch)
		c.fan = process.NewFan(c.signals)
		c.heard = c.fan.Join()
	}
	for _, t := range c.tasks {
		if err := c.launchTask(ctx, t); err != nil {
			c.endAll(errAppFailed)
			_, waitErr := c.wait(ctx)
			return errors.Join(err, waitErr)
		}
	}
	return nil
}

// launchTask starts one replica in the present attempt.
func (c *crew) launchTask(ctx context.Context, t *task) error {
	t.attempt, t.again, t.raw = c.attempt, nil, process.Exit{}
	proc, err := c.startTask(t)
	if err != nil {
		if len(c.tasks) > 1 {
			err = fmt.Errorf("start %s/%d: %w", t.name, t.replica, err)
		}
		now := c.now()
		t.exit = c.describeTask(t, tracker.Failed, now)
		t.exit.Ended, t.exit.ExitCode, t.exit.Error = now, startCode(err), err.Error()
		t.raw = process.Exit{Code: t.exit.ExitCode, Started: now, Ended: now}
		c.tell(t.exit)
		c.lost = t
		return err
	}
	t.proc, c.procs = proc, append(c.procs, proc)
	t.exit = c.describeTask(t, tracker.Running, c.now())
	c.tell(t.exit)
	c.live++
	ctx, t.cancel = context.WithCancelCause(ctx)
	go func() { // until wait has its ending
		exit, err := proc.Wait(ctx)
		c.ended <- ending{t, exit, err}
	}()
	return nil
}

func (c *crew) startTask(t *task) (*process.Process, error) {
	var err error
	if t.dir, err = c.openLogDir(t.name, t.replica, t.attempt); err != nil {
		return nil, err
	}
	spec, err := c.spec(t)
	if err != nil {
		return nil, err
	}
	return process.Start(spec)
}

func (c *crew) describeTask(t *task, state tracker.State, started time.Time) ReplicaExit {
	e := ReplicaExit{
		Role: t.name, Replica: t.replica, Attempt: t.attempt, State: state,
		Host: hostname(), Started: started.UTC(), LogDir: t.dir,
	}
	if t.proc != nil && state == tracker.Running {
		e.PID = t.proc.PID()
	}
	return e
}

// tell shows how a replica stands to who wants to know.
func (c *crew) tell(exit ReplicaExit) {
	if c.job.OnReplica == nil {
		return
	}
	if err := c.job.OnReplica(exit); err != nil {
		c.warnf("%v", err)
	}
}

// wait follows the replicas until none runs and none is to be started again. The
// exit is that of the replica that decided how the app ended.
func (c *crew) wait(ctx context.Context) (process.Exit, error) {
	var errs []error
	cancelled := ctx.Done()
	reap := time.NewTicker(reapEvery)
	defer reap.Stop()
	for c.live > 0 {
		select {
		case e := <-c.ended:
			c.live--
			errs = append(errs, e.err)
			c.settleTask(ctx, e)
		case sig := <-c.heard.Next():
			switch {
			case sig == syscall.SIGTERM:
				c.halted, c.stop = true, "SIGTERM"
			case sig == os.Interrupt && c.interrupts() && c.stop == "":
				c.halted, c.stop = true, "SIGINT"
			}
		case <-cancelled:
			cancelled, c.halted, c.stop = nil, true, "cancel"
		case <-reap.C:
			c.orphans.Reap()
		}
	}
	exit := c.decide()
	c.endOrphans(&exit)
	return exit, errors.Join(errs...)
}

// settleTask notes the end of a replica and does what follows from it.
func (c *crew) settleTask(ctx context.Context, e ending) {
	t := e.task
	pid := t.exit.PID
	t.raw, t.cancel = e.exit, nil
	t.exit = c.describeTask(t, stateOf(e.exit), e.exit.Started)
	t.exit.PID, t.exit.Ended, t.exit.ExitCode, t.exit.Signal = pid, e.exit.Ended.UTC(), e.exit.Code, e.exit.Signal
	if e.err != nil {
		t.exit.State, t.exit.Error = tracker.Failed, e.err.Error()
	}
	if c.fan != nil {
		c.fan.Leave(t.signals)
	}
	if e.exit.OutOfMemory && t.exit.State != tracker.Succeeded {
		t.exit.Error = fmt.Sprintf("out of memory: it was killed at the %d MB that its role asks for", t.role.Resource.MemMB)
		c.warnf("%s%s", t.label(len(c.tasks)), t.exit.Error)
	}
	c.warnOfExit(t.label(len(c.tasks)), e.exit)
	c.tell(t.exit)
	switch {
	case t.again != nil && !c.halted:
		c.restartIfEmpty(ctx, t.again)
	case t.exit.State == tracker.Succeeded || c.halted:
	case t.exit.State == tracker.Failed && c.mayRetry(t):
		c.retry(ctx, t)
	default:
		c.lost = t
		c.endAll(errAppFailed)
	}
}

// label names the replica where there are several.
func (t *task) label(of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf("%s/%d: ", t.name, t.replica)
}

// endAll ends what runs; nothing is started again.
func (c *crew) endAll(why error) {
	c.halted = true
	for _, t := range c.tasks {
		if t.cancel != nil {
			t.cancel(why)
		}
	}
}

// decide gives the end of the replica that decides: the one whose failure ended the
// app, else the first that was ended, else the last.
func (c *crew) decide() process.Exit {
	first := c.lost
	if first == nil {
		for _, t := range c.tasks {
			if t.exit.State != tracker.Succeeded && (first == nil || t.exit.Ended.Before(first.exit.Ended)) {
				first = t
			}
		}
	}
	last := c.tasks[0]
	for _, t := range c.tasks {
		if t.exit.Ended.After(last.exit.Ended) {
			last = t
		}
		if t.exit.State != "" {
			c.result.Replicas = append(c.result.Replicas, t.exit)
		}
	}
	if first == nil {
		first = last
	}
	exit := first.raw
	if c.lost == nil && first.exit.State != tracker.Succeeded && c.stop != "" {
		exit.Stop = c.stop
	}
	if exit.Ended.Before(last.raw.Ended) {
		exit.Ended = last.raw.Ended
	}
	return exit
}

// endOrphans ends what left the job in every way, where such processes fall to us.
func (c *crew) endOrphans(exit *process.Exit) {
	from := time.Now()
	if !exit.Stopped.IsZero() {
		from = exit.Stopped
	}
	left, survivors := c.orphans.End(context.Background(), c.guard, from.Add(c.grace()))
	c.warnOfExit("", process.Exit{Left: left, Survivors: survivors})
}

// drain waits until what was written has been shown, and gives the bytes not shown.
func (c *crew) drain() (lost int64) {
	for _, p := range c.procs {
		lost += p.Drain(stallLimit)
	}
	c.screen.end()
	return lost
}

// close ends what start began. Nothing runs any more.
func (c *crew) close() {
	if c.fan != nil {
		c.fan.Close()
	}
	c.guard.Close()
}

func startCode(err error) int {
	switch {
	case errors.Is(err, ErrNotFound):
		return 127
	case errors.Is(err, ErrNotExecutable):
		return 126
	}
	return 125
}

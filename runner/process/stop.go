package process

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	settle = 2 * time.Second       // for helpers that end by themselves after the job: tee, a resource tracker
	reap   = 2 * time.Second       // for the kernel, after SIGKILL
	glance = 10 * time.Millisecond // between looks at processes that are not our children

	// again is how long after a first Ctrl-C another one is no longer the same: a second finger,
	// or a program before us that passes on what the terminal gave us already.
	again = 500 * time.Millisecond
)

// attend passes signals on until the process has ended.
func (p *Process) attend(ctx context.Context) {
	cancelled := ctx.Done()
	var kill, patience <-chan time.Time
	for {
		select {
		case <-p.exited:
			return
		case <-cancelled:
			cancelled = nil
			p.cancel(ctx)
		case sig := <-p.spec.Signals.next():
			p.pass(sig)
		case <-p.logs.gone:
			p.readerGone()
		case <-patience:
			p.terminate(signalName(sigTerm))
		case <-kill:
			p.killed = !p.hurried
			p.signalAll(sigKill)
			p.deadline = time.Now().Add(10 * glance) // again, for what was just being born
		}
		patience = nil
		switch {
		case !p.deadline.IsZero():
			kill = time.After(time.Until(p.deadline))
		case !p.first.IsZero():
			patience = time.After(time.Until(p.first.Add(p.spec.Grace)))
		}
	}
}

// interrupted sees what follows from a SIGINT, where that asks the job to end.
func (p *Process) interrupted() {
	now := time.Now()
	switch {
	case !p.spec.EndOnInterrupt:
	case p.first.IsZero():
		p.first = now
	case now.Sub(p.first) >= again:
		if p.stopped.IsZero() {
			p.stopped = now
		}
		p.deadline, p.hurried = now, true
	}
}

// StopWithin is a cause of a cancelled context (context.WithCancelCause) that
// gives the job this grace time in place of the planned one.
type StopWithin time.Duration

// Error says what was asked.
func (d StopWithin) Error() string { return "stop within " + time.Duration(d).String() }

func (p *Process) cancel(ctx context.Context) {
	var within StopWithin
	if errors.As(context.Cause(ctx), &within) && within > 0 {
		p.spec.Grace = time.Duration(within)
	}
	p.terminate("cancel")
}

// terminate begins the grace time; asked again, the first one counts.
func (p *Process) terminate(why string) {
	p.stop = why
	if p.deadline.IsZero() {
		p.stopped = time.Now()
		p.deadline = p.stopped.Add(p.spec.Grace)
	}
	p.signalAll(sigTerm)
}

// sweep ends what the process left behind: a moment to go by itself, SIGTERM,
// what is left of the grace time, SIGKILL.
func (p *Process) sweep(ctx context.Context) (left int, survivors []int) {
	if left = len(p.members()); left == 0 {
		return 0, nil
	}
	if p.deadline.IsZero() {
		if p.emptied(ctx, settle) {
			return 0, nil
		}
		if p.deadline.IsZero() {
			p.deadline = time.Now().Add(p.spec.Grace)
		}
		left = len(p.members())
		p.signalAll(sigTerm)
	}
	if p.emptied(ctx, time.Until(p.deadline)) {
		return left, nil
	}
	for end := time.Now().Add(reap); time.Now().Before(end); {
		p.signalAll(sigKill)
		if p.emptied(ctx, 5*glance) {
			return left, nil
		}
	}
	return left, p.members()
}

// emptied waits until no process of the job is left, and says so. Signals go on
// to reach those that are; a cancelled ctx ends the waiting at the grace time.
func (p *Process) emptied(ctx context.Context, limit time.Duration) bool {
	cancelled := ctx.Done()
	if p.stop == "cancel" {
		cancelled = nil
	}
	end, tick := time.After(limit), time.NewTicker(glance)
	defer tick.Stop()
	for len(p.members()) > 0 {
		select {
		case <-tick.C:
		case <-end:
			return len(p.members()) == 0
		case <-cancelled:
			cancelled = nil
			p.cancel(ctx)
		case sig := <-p.spec.Signals.next():
			p.pass(sig)
			if p.hurried {
				return false
			}
		}
	}
	return true
}

// note remembers what the process was asked, unless it was already told to end.
func (p *Process) note(sig os.Signal) {
	if p.deadline.IsZero() {
		p.stop = signalName(sig)
	}
}

package runner

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/heirloom-ml/heirloom/tracker"
)

// restart is a further attempt in the making, which begins when none of its
// replicas runs any more.
type restart struct{ cause *task }

// mayRetry says whether a failure leads to a further attempt.
func (c *crew) mayRetry(t *task) bool {
	if t.role == nil || c.halted {
		return false
	}
	spent := t.retries
	switch t.role.Policy() {
	case RetryRole:
		spent = c.roles[t.name]
	case RetryApplication:
		spent = c.apps
	}
	return spent < t.role.MaxRetries
}

// retry ends what the policy of the failed replica starts again, and starts it.
func (c *crew) retry(ctx context.Context, failed *task) {
	again := &restart{cause: failed}
	switch failed.role.Policy() {
	case RetryReplica:
		failed.retries++
	case RetryRole:
		c.roles[failed.name]++
	case RetryApplication:
		c.apps++
	}
	for _, t := range c.tasks {
		if !failed.takesAlong(t) {
			continue
		}
		t.again = again
		if t.cancel != nil {
			t.cancel(errRestart)
		}
	}
	c.restartIfEmpty(ctx, again)
}

// takesAlong says whether another replica is started again with this one.
func (t *task) takesAlong(other *task) bool {
	switch t.role.Policy() {
	case RetryReplica:
		return t == other
	case RetryRole:
		return t.name == other.name
	}
	return true
}

// restartIfEmpty begins the further attempt, unless some of its replicas still run.
func (c *crew) restartIfEmpty(ctx context.Context, again *restart) {
	for _, t := range c.tasks {
		if t.again == again && t.cancel != nil {
			return
		}
	}
	if err := c.nextAttempt(ctx, again.cause.exit); err != nil {
		c.warnf("the job was not started again: %v", err)
		c.lost = again.cause
		c.endAll(errAppFailed)
		return
	}
	for _, t := range c.tasks {
		if t.again != again {
			continue
		}
		if err := c.launchTask(ctx, t); err != nil {
			c.warnf("%v", err)
			c.endAll(errAppFailed)
			return
		}
	}
}

// nextAttempt ends the present attempt of the run as the replica ended, and begins
// the next.
func (c *crew) nextAttempt(ctx context.Context, exit ReplicaExit) error {
	end := tracker.AttemptEnd{Time: exit.Ended, State: exit.State, Signal: exit.Signal}
	if exit.Signal == "" {
		end.ExitCode = &exit.ExitCode
	}
	if err := c.endAttempt(ctx, end); err != nil {
		return err
	}
	start := c.attemptStart()
	start.Time = c.now()
	n, err := c.Tracker.StartAttempt(ctx, c.id, start)
	if err != nil {
		return err
	}
	c.setAttempt(n)
	c.result.State, c.result.Restarts = tracker.Running, c.result.Restarts+1
	if err := endLine(filepath.Join(c.place.dir, metricsFile)); err != nil {
		return fmt.Errorf("begin attempt %d: %w", n, err)
	}
	return nil
}

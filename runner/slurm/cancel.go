package slurm

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/process"
)

// patience is how long a batch script may take beyond the grace time before Slurm
// itself is asked to end the job.
const patience = time.Minute

// Cancel writes down the wish first, so that no retry follows. A job that runs is
// told through its batch script, which gives the replicas their grace time; one that
// does not is taken from the queue. Asked again long after, Slurm ends the job in its
// own way.
func (s *Scheduler) Cancel(ctx context.Context, h runner.Handle, opts runner.CancelOptions) error {
	a, err := s.open(h)
	if err != nil {
		return err
	}
	status, err := s.Status(ctx, h)
	if err != nil {
		return err
	}
	if status.Settled() {
		return nil
	}
	before, again := (&place{base: a.base, dir: a.dir}).isStopped()
	if !again {
		before.Time = s.opts.Now()
	}
	if err := writeJSON(a.dir.file("stopped.json"), stopped{Time: before.Time.UTC(), Grace: opts.Grace}); err != nil {
		return fmt.Errorf("note that %s is to end: %w", h, diskError(err))
	}
	if a.sub.JobID == "" {
		if a.sub.JobID, err = s.find(ctx, a.plan); a.sub.JobID == "" {
			return err
		}
	}
	overdue := s.opts.Now().Sub(before.Time) > cmp.Or(opts.Grace, a.plan.Recording.Grace, process.DefaultGrace)+patience
	if !overdue && !a.isArray() && a.attends() {
		_, err = s.slurm.run(ctx, "scancel", "--batch", "--signal=TERM", a.target())
		if err == nil {
			return nil
		}
	}
	_, err = s.slurm.run(ctx, "scancel", a.target())
	if unknownJob(err) {
		return nil
	}
	return err
}

// attends says whether the batch script of an attempt is there to end its replicas.
func (a *app) attends() bool {
	attempts, err := a.dir.attempts()
	last := lastOf(attempts)
	return err == nil && last != nil && last.Ended.IsZero()
}

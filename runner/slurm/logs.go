package slurm

import (
	"context"
	"iter"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
)

// Logs reads the files that the nodes write, of an array those of its tasks. What the batch script itself printed is
// not among them: Describe says where the job directory is.
func (s *Scheduler) Logs(ctx context.Context, h runner.Handle, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		a, err := s.open(h)
		if err != nil {
			yield(runner.LogLine{}, err)
			return
		}
		for line, err := range joblog.ReadAll(ctx, a.trees, s.ended(ctx, h), query) {
			if !yield(line, err) {
				return
			}
		}
	}
}

// trees are where the logs lie: of an array those of the tasks that have begun.
func (a *app) trees() []joblog.Tree {
	if !a.isArray() {
		return []joblog.Tree{{Dir: a.dir.file("logs"), App: &a.plan.App}}
	}
	var list []joblog.Tree
	for _, id := range a.base.tasks() {
		list = append(list, joblog.Tree{Task: id, Dir: a.base.task(id).file("logs"), App: &a.plan.App})
	}
	return list
}

// ended says whether an app has settled, and asks no more often than is fit for
// Slurm's controller. One that is gone has.
func (s *Scheduler) ended(ctx context.Context, h runner.Handle) func() bool {
	var asked time.Time
	settled := false
	return func() bool {
		if !settled && time.Since(asked) >= s.opts.Poll {
			asked = time.Now()
			status, err := s.Status(ctx, h)
			settled = err == nil && status.Settled() || isGone(err)
		}
		return settled
	}
}

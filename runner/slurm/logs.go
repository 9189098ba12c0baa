package slurm

import (
	"context"
	"iter"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
	"github.com/heirloom-ml/heirloom/store"
)

// Logs reads the files that the nodes write. What the batch script itself printed is
// not among them: Describe says where the job directory is.
func (s *Scheduler) Logs(ctx context.Context, h runner.Handle, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		a, err := s.open(h)
		if err == nil && a.isArray() {
			err = &store.Error{Op: "read logs", Key: h.String(), Kind: store.ErrUnsupported,
				Err: errText("it is an array, whose tasks have logs of their own: name one, as " + h.String() + "_0")}
		}
		if err != nil {
			yield(runner.LogLine{}, err)
			return
		}
		tree := joblog.Tree{Dir: a.dir.file("logs"), App: &a.plan.App, Ended: s.ended(ctx, h)}
		for line, err := range joblog.Read(ctx, tree, query) {
			if !yield(line, err) {
				return
			}
		}
	}
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

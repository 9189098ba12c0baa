package local

import (
	"context"
	"iter"
	"os"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
	"github.com/heirloom-ml/heirloom/tracker"
)

// Logs yields lines of the app's logs, of all its attempts.
func (s *Scheduler) Logs(ctx context.Context, h runner.Handle, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		tree, done, err := s.logTree(ctx, h, query)
		if err != nil {
			yield(runner.LogLine{}, err)
			return
		}
		defer done()
		for line, err := range joblog.Read(ctx, tree, query) {
			if !yield(line, err) {
				return
			}
		}
	}
}

// logTree finds where the logs are: the run's own directory, scratch while it runs, or
// in the store afterwards, of which a copy is made.
func (s *Scheduler) logTree(ctx context.Context, h runner.Handle, query runner.LogQuery) (joblog.Tree, func(), error) {
	l, err := s.newest(h)
	if err != nil {
		return joblog.Tree{}, nil, err
	}
	plan, err := l.plan()
	if err != nil {
		return joblog.Tree{}, nil, err
	}
	for query.Tail && !l.has(startedFile) {
		if state, _, err := l.state(); err != nil || state != tracker.Pending {
			break
		}
		if err := pause(ctx); err != nil {
			return joblog.Tree{}, nil, err
		}
	}
	var begun started
	if ok, err := l.read(startedFile, &begun); err != nil || !ok {
		return joblog.Tree{Dir: l.path("none"), App: &plan.App}, func() {}, err
	}
	ended := func() bool { return !l.lives() }
	if query.Tail {
		ended = l.overSince()
	}
	tree := joblog.Tree{Dir: begun.LogDir, App: &plan.App, Ended: ended}
	if _, err := os.Stat(begun.LogDir); err == nil || l.lives() {
		return tree, func() {}, nil
	}
	return s.storedLogs(ctx, l, plan)
}

// settling is for the guard of a supervisor that was killed, which ends the replicas and
// adds what they wrote last to their logs.
const settling = time.Second

// overSince tells who follows logs whether they are written no more.
func (l launch) overSince() func() bool {
	var seen time.Time
	return func() bool {
		switch {
		case l.lives():
			return false
		case l.has(endFile):
			return true
		case seen.IsZero():
			seen = time.Now()
		}
		return time.Since(seen) >= settling
	}
}

// storedLogs gives the logs of a run whose scratch is gone.
func (s *Scheduler) storedLogs(ctx context.Context, l launch, plan *runner.Plan) (joblog.Tree, func(), error) {
	launcher, closing, err := s.launcher(ctx, l, plan, Foreground{})
	if err != nil {
		return joblog.Tree{}, nil, err
	}
	defer func() { _ = closing() }()
	tree, done, err := joblog.Stored(ctx, launcher.Store, plan.RunID, launcher.TempDir)
	tree.App = &plan.App
	return tree, done, err
}

package local

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
	"github.com/heirloom-ml/heirloom/store"
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
	tree := joblog.Tree{Dir: begun.LogDir, App: &plan.App, Ended: ended}
	if _, err := os.Stat(begun.LogDir); err == nil || !ended() {
		return tree, func() {}, nil
	}
	tree.Dir, err = s.fetchLogs(ctx, l, plan)
	return tree, func() { _ = os.RemoveAll(tree.Dir) }, err
}

// fetchLogs copies from the store the logs of a run whose scratch is gone.
func (s *Scheduler) fetchLogs(ctx context.Context, l launch, plan *runner.Plan) (string, error) {
	launcher, done, err := s.launcher(ctx, l, plan, Foreground{})
	if err != nil {
		return "", err
	}
	defer func() { _ = done() }()
	layout := launcher.Store.Layout()
	if !layout.SavesRuns() {
		return "", fmt.Errorf("the logs of %s were not kept, for save_runs is false: %w", plan.Handle, store.ErrNotExist)
	}
	dir, err := os.MkdirTemp(launcher.TempDir, "heirloom-logs-")
	if err != nil {
		return "", err
	}
	below := string(layout.RunDir(string(plan.RunID))) + "/logs/"
	for o, err := range launcher.Store.List(ctx, below) {
		if err != nil {
			return dir, fmt.Errorf("find the logs: %w", err)
		}
		rel := filepath.FromSlash(strings.TrimPrefix(string(o.Key), below))
		if !filepath.IsLocal(rel) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o700); err != nil {
			return dir, err
		}
		if _, err := launcher.Store.Download(ctx, o.Key, filepath.Join(dir, rel), nil); err != nil {
			return dir, fmt.Errorf("fetch the logs: %w", err)
		}
	}
	return dir, nil
}

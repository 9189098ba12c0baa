package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/runner/joblog"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
)

// logs asks the scheduler, and where it does not know the app, or is none of ours, the store of the run.
func (a *app) logs(ctx context.Context, l *launched, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		for line, err := range l.runner.Logs(ctx, l.handle, query) {
			if errors.Is(err, store.ErrNotExist) {
				a.storedLogs(ctx, l, query, err, yield)
				return
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// storedLogs yields the lines of a run that only its store knows; else cause, which the scheduler said.
func (a *app) storedLogs(ctx context.Context, l *launched, query runner.LogQuery, cause error, yield func(runner.LogLine, error) bool) {
	if _, err := l.runner.Status(ctx, l.handle); !errors.Is(err, store.ErrNotExist) {
		yield(runner.LogLine{}, cause)
		return
	}
	run, err := a.recorded(ctx, l.handle)
	if tracker.IsDeleted(err) {
		cause = err
	}
	if err != nil || run.State == tracker.Unknown {
		yield(runner.LogLine{}, cause)
		return
	}
	tree, done, err := a.storedTree(ctx, l.handle, run, query)
	if err != nil {
		yield(runner.LogLine{}, err)
		return
	}
	defer done()
	for line, err := range joblog.Read(ctx, tree, query) {
		if query.Regex != nil && !query.Regex.MatchString(strings.TrimRight(line.Text, "\r\n")) && err == nil {
			continue
		}
		if !yield(line, err) {
			return
		}
	}
}

func (a *app) storedTree(ctx context.Context, h runner.Handle, run *tracker.Run, query runner.LogQuery) (joblog.Tree, func(), error) {
	p, err := a.here(ctx)
	if err != nil {
		return joblog.Tree{}, nil, err
	}
	if _, local := p.store.LocalPath(p.store.Layout().Runs()); query.Tail && !local && run.State == tracker.Running {
		return joblog.Tree{}, nil, fmt.Errorf("follow the logs of %s: it is followed where it was started; without -f comes what is stored by now: %w", h, store.ErrUnsupported)
	}
	tree, done, err := joblog.Stored(ctx, p.store, run.ID, "")
	if err != nil {
		return tree, nil, err
	}
	if err := query.Check(h, rolesOf(tree.App)); err != nil {
		done()
		return tree, nil, err
	}
	tree.Ended = func() bool {
		run, err := p.tracker.Run(ctx, run.ID)
		return err != nil || run.State.Terminal() || run.State == tracker.Lost
	}
	return tree, done, nil
}

// rolesOf are the roles and replicas of an app, of whose state nothing is said.
func rolesOf(app *runner.App) []runner.RoleStatus {
	var list []runner.RoleStatus
	for _, role := range app.Roles {
		list = append(list, runner.RoleStatus{Role: role.Name, Replicas: make([]runner.ReplicaStatus, role.NumReplicas)})
	}
	return list
}

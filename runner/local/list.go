package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// List yields the apps of this user on this machine, the youngest first, those planned
// at one time by their handles.
func (s *Scheduler) List(ctx context.Context, query runner.ListQuery) iter.Seq2[runner.ListEntry, error] {
	return func(yield func(runner.ListEntry, error) bool) {
		list, err := s.entries(ctx, query)
		if err != nil {
			yield(runner.ListEntry{}, err)
			return
		}
		if query.Limit > 0 {
			list = list[:min(query.Limit, len(list))]
		}
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *Scheduler) entries(ctx context.Context, query runner.ListQuery) ([]runner.ListEntry, error) {
	apps, err := os.ReadDir(s.opts.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list local apps: %w", err)
	}
	var list []runner.ListEntry
	for _, app := range apps {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := filepath.Join(s.opts.StateDir, app.Name())
		n, err := lastLaunch(dir)
		if err != nil || n == 0 {
			continue // something else, or deleted just now
		}
		e, err := launch{filepath.Join(dir, fmt.Sprint(n))}.entry()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if (query.States == nil || slices.Contains(query.States, e.State)) && !e.Submitted.Before(query.Since) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b runner.ListEntry) int {
		if n := b.Submitted.Compare(a.Submitted); n != 0 {
			return n
		}
		return strings.Compare(a.Handle.String(), b.Handle.String())
	})
	return list, nil
}

func (l launch) entry() (runner.ListEntry, error) {
	plan, err := l.plan()
	if err != nil {
		return runner.ListEntry{}, err
	}
	state, e, err := l.state()
	if err != nil {
		return runner.ListEntry{}, err
	}
	var who supervisor
	_, err = l.read(supervisorFile, &who)
	entry := runner.ListEntry{Handle: plan.Handle, Name: plan.App.Name, State: state, User: who.User, Submitted: plan.Planned, Ended: e.Ended}
	if who.PID > 0 {
		entry.JobID = fmt.Sprint(who.PID)
	}
	return entry, err
}

// Describe tells all that is known of an app.
func (s *Scheduler) Describe(_ context.Context, h runner.Handle) (runner.Description, error) {
	l, err := s.newest(h)
	if err != nil {
		return runner.Description{}, err
	}
	plan, err := l.plan()
	if err != nil {
		return runner.Description{}, err
	}
	status, err := l.status(h)
	if err != nil {
		return runner.Description{}, err
	}
	var who supervisor
	var begun started
	_, err = l.read(supervisorFile, &who)
	if err == nil {
		_, err = l.read(startedFile, &begun)
	}
	return runner.Description{
		Handle: plan.Handle, App: plan.App, Status: status, User: who.User, Dir: plan.Dir,
		LogDir: begun.LogDir, Options: plan.Options,
		Metadata: map[string]string{"host": who.Host, "state_dir": l.dir, "output_dir": begun.OutputDir},
	}, err
}

package runnertest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/heirloom-ml/heirloom/runner"
	"github.com/heirloom-ml/heirloom/store"
)

// Logs yields the lines of one log after the other, again and again.
func (f *Fake) Logs(ctx context.Context, h runner.Handle, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		if !query.Since.IsZero() || !query.Until.IsZero() {
			yield(runner.LogLine{}, fmt.Errorf("times of log lines: %w", store.ErrUnsupported))
			return
		}
		read := map[string]int{} // bytes of each log that were yielded
		for {
			f.mu.Lock()
			a, err := f.find(h)
			f.mu.Unlock()
			if err != nil {
				yield(runner.LogLine{}, err)
				return
			}
			ended := false
			select {
			case <-a.ended:
				ended = true
			default:
			}
			for _, log := range a.logs(query) {
				if !log.yield(read, ended, yield) {
					return
				}
			}
			if ended || !query.Tail {
				return
			}
			select {
			case <-ctx.Done():
				yield(runner.LogLine{}, context.Cause(ctx))
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}

// fakeLog is a log file; line is what its lines have in common.
type fakeLog struct {
	path string
	line runner.LogLine
}

func (a *fakeApp) logs(query runner.LogQuery) []fakeLog {
	a.fake.mu.Lock()
	defer a.fake.mu.Unlock()
	stream := cmp.Or(query.Stream, runner.Combined)
	var logs []fakeLog
	for _, r := range a.replicas {
		if query.Role != "" && query.Role != r.role.Name || query.Replicas != nil && !slices.Contains(query.Replicas, r.status.ID) {
			continue
		}
		for attempt := 1; attempt <= r.status.Attempt; attempt++ {
			if query.Attempt == 0 || query.Attempt == attempt {
				path := filepath.Join(a.dir(), r.role.Name, strconv.Itoa(r.status.ID), strconv.Itoa(attempt), string(stream)+".log")
				logs = append(logs, fakeLog{path, runner.LogLine{Role: r.role.Name, Replica: r.status.ID, Attempt: attempt, Stream: stream}})
			}
		}
	}
	return logs
}

// yield yields the lines that are whole, and at the end what is left.
func (l fakeLog) yield(read map[string]int, ended bool, yield func(runner.LogLine, error) bool) bool {
	body, err := os.ReadFile(l.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || yield(runner.LogLine{}, err)
	}
	for {
		rest := body[read[l.path]:]
		end := bytes.IndexAny(rest, "\r\n") + 1
		switch {
		case end > 0 && rest[end-1] == '\r' && end == len(rest) && !ended: // a newline may follow
			return true
		case end > 0 && rest[end-1] == '\r' && end < len(rest) && rest[end] == '\n':
			end++
		case end == 0 && (!ended || len(rest) == 0):
			return true
		case end == 0:
			end = len(rest)
		}
		l.line.Text = string(rest[:end])
		read[l.path] += end
		if !yield(l.line, nil) {
			return false
		}
	}
}

// List lists from memory.
func (f *Fake) List(_ context.Context, query runner.ListQuery) iter.Seq2[runner.ListEntry, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	var entries []runner.ListEntry
	for h, a := range f.apps {
		if query.States != nil && !slices.Contains(query.States, a.state) || a.submitted.Before(query.Since) {
			continue
		}
		entries = append(entries, runner.ListEntry{
			Handle: h, Name: a.plan.App.Name, State: a.state, JobID: strconv.Itoa(a.number), Submitted: a.submitted, Ended: a.finished,
		})
	}
	slices.SortFunc(entries, func(a, b runner.ListEntry) int { return b.Submitted.Compare(a.Submitted) })
	if query.Limit > 0 {
		entries = entries[:min(query.Limit, len(entries))]
	}
	return func(yield func(runner.ListEntry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

package joblog

import (
	"context"
	"errors"
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

const glance = 100 * time.Millisecond // between looks at logs that are followed

// Tree is where the logs of an app lie. Dir and App are needed.
type Tree struct {
	Task string      // of an array, which its lines tell; "" = none
	Dir  string      // <role>/<replica>/<attempt>/stdout.log, stderr.log, combined.log below it, the role encoded as a run is
	App  *runner.App // its roles and how many replicas they have
	// Ended says whether nothing is written any more; nil = it is so.
	Ended func() bool
}

// Read yields the lines that the query wants, as runner.LogReader has it: those of
// one replica attempt after attempt, those of several by their times. Attempts of one
// replica follow each other, so that a log is whole once there is a later one.
func Read(ctx context.Context, tree Tree, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return ReadAll(ctx, func() []Tree { return []Tree{tree} }, tree.Ended, query)
}

// ReadAll is Read for an app whose trees come to be while it runs, as those of the tasks
// of an array. trees lists those that there are by now; ended says whether nothing is
// written any more in any of them, and no other will come.
func ReadAll(ctx context.Context, trees func() []Tree, ended func() bool, query runner.LogQuery) iter.Seq2[runner.LogLine, error] {
	return func(yield func(runner.LogLine, error) bool) {
		var sources []*source
		seen := map[string]bool{}
		defer func() {
			for _, s := range sources {
				s.close()
			}
		}()
		for {
			over := func() bool { return ended == nil || ended() }
			whole := !query.Tail || over() || !query.Until.IsZero() && time.Now().After(query.Until)
			for _, tree := range trees() { // after it is known whether others may come
				if !seen[tree.Dir] {
					seen[tree.Dir], sources = true, append(sources, tree.sources(query)...)
				}
			}
			if !merge(ctx, sources, whole, over, query, yield) || whole {
				return
			}
			select {
			case <-ctx.Done():
				yield(runner.LogLine{}, context.Cause(ctx))
				return
			case <-time.After(glance):
			}
		}
	}
}

func (t Tree) sources(query runner.LogQuery) []*source {
	stream := query.Stream
	if stream == "" {
		stream = runner.Combined
	}
	var list []*source
	for _, role := range t.App.Roles {
		if query.Role != "" && query.Role != role.Name {
			continue
		}
		for k := range role.NumReplicas {
			if query.Replicas != nil && !slices.Contains(query.Replicas, k) {
				continue
			}
			list = append(list, &source{
				dir:  filepath.Join(t.Dir, store.EncodeRun(role.Name), strconv.Itoa(k)),
				only: query.Attempt, line: runner.LogLine{Task: t.Task, Role: role.Name, Replica: k, Stream: stream},
			})
		}
	}
	return list
}

// merge yields what there is, the earliest line first; false when the caller wants
// no more, or after an error.
func merge(ctx context.Context, sources []*source, ended bool, over func() bool, query runner.LogQuery, yield func(runner.LogLine, error) bool) bool {
	var next []*source
	advance := func(s *source) error {
		ok, err := s.next(ended, over)
		if ok {
			at, _ := slices.BinarySearchFunc(next, s, func(a, b *source) int {
				if n := a.line.Time.Compare(b.line.Time); n != 0 {
					return n
				}
				return -1 // after its equals
			})
			next = slices.Insert(next, at, s)
		}
		return err
	}
	for _, s := range sources {
		if err := advance(s); err != nil {
			yield(runner.LogLine{}, err)
			return false
		}
	}
	for len(next) > 0 {
		s := next[0]
		next = next[1:]
		if wanted(s.line.Time, query) && !yield(s.line, nil) {
			return false
		}
		if ctx.Err() != nil {
			yield(runner.LogLine{}, context.Cause(ctx))
			return false
		}
		if err := advance(s); err != nil {
			yield(runner.LogLine{}, err)
			return false
		}
	}
	return true
}

func wanted(at time.Time, query runner.LogQuery) bool {
	return (query.Since.IsZero() || !at.Before(query.Since)) && (query.Until.IsZero() || at.Before(query.Until))
}

// attempts lists the attempts of which a directory has logs, in order.
func attempts(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

package dataset

import (
	"context"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// outcome is what became of one task.
type outcome[R any] struct {
	result R
	err    error
}

// slot is one task on its way.
type slot[T, R any] struct {
	task T
	done chan outcome[R] // takes one
}

// inOrder calls work on each task that next returns, on all cores, and emit on
// each result in the order of the tasks, in the goroutine of the caller. next ends with io.EOF. Of several errors
// the first in that order is returned, whatever the number of cores. At most four
// tasks a core are under way.
func inOrder[T, R any](ctx context.Context, next func() (T, error), work func(T) (R, error), emit func(result R) error) error {
	workers := runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(ctx)
	var group errgroup.Group
	defer func() {
		cancel()
		_ = group.Wait() // what went wrong came through order
	}()
	tasks := make(chan slot[T, R], workers)
	order := make(chan slot[T, R], 2*workers)
	group.Go(func() error {
		defer close(tasks)
		defer close(order)
		for {
			task, err := next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			s := slot[T, R]{task: task, done: make(chan outcome[R], 1)}
			if err != nil {
				s.done <- outcome[R]{err: err}
			}
			if !send(ctx, order, s) || err != nil || !send(ctx, tasks, s) {
				return nil // whoever takes from order tells why
			}
		}
	})
	for range workers {
		group.Go(func() error {
			for s := range tasks {
				result, err := work(s.task)
				s.done <- outcome[R]{result, err}
			}
			return nil
		})
	}
	for s := range order {
		select {
		case o := <-s.done:
			if o.err != nil {
				return o.err
			}
			if err := emit(o.result); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

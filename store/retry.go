package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 5 * time.Second
	// reachAttempts is how often a far side is tried that cannot be reached at
	// all: long enough for a restart, short enough for someone who waits.
	reachAttempts = 3
)

// do runs call until it succeeds, fails for good, or has failed too often. It
// reports whether an earlier try may have been applied although it failed.
func (s *Store) do(ctx context.Context, r Request, call func(ctx context.Context) error) (unsure bool, err error) {
	for try := 1; ; try++ {
		err = s.attempt(ctx, r, call)
		if err == nil || !errors.Is(err, ErrUnavailable) || try >= s.limit(err) {
			return unsure, err
		}
		unsure = true
		if pause(ctx, try) != nil {
			return unsure, err
		}
	}
}

func (s *Store) limit(err error) int {
	if unreachable(err) {
		return min(reachAttempts, s.opts.attempts())
	}
	return s.opts.attempts()
}

// attempt is one request: counted, shown to Intercept, its error classified.
func (s *Store) attempt(ctx context.Context, r Request, call func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return s.wrap(r.Op, r.Key, err)
	}
	run := func() error {
		s.meter.request(r)
		return call(counted(ctx, func() { s.meter.request(Request{Op: r.Op}) }))
	}
	err := error(nil)
	if s.opts.Intercept != nil {
		err = s.opts.Intercept(ctx, r, run)
	} else {
		err = run()
	}
	return s.wrap(r.Op, r.Key, err)
}

// pause waits before the next try, a random part of a doubling time, so that
// many clients do not come back at once.
func pause(ctx context.Context, try int) error {
	longest := min(firstDelay<<min(try-1, 10), maxDelay)
	t := time.NewTimer(time.Duration(rand.Int64N(int64(longest))) + longest/8)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

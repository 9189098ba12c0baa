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
	pace := pacerOf(ctx)
	renewed := false
	for try := 1; ; try++ {
		err = s.attempt(ctx, r, call)
		if expired(err) && !renewed && s.renew(ctx) {
			renewed = true
			continue
		}
		pace.saw(err)
		if err == nil || !errors.Is(err, ErrUnavailable) {
			return unsure, err
		}
		if try >= s.limit(err, pace) || !pace.again() {
			return unsure, err
		}
		unsure = true
		if s.pause(ctx, try, err) != nil {
			return unsure, err
		}
	}
}

// renew fetches new credentials, where the backend has such.
func (s *Store) renew(ctx context.Context) bool {
	r, ok := s.back.(renewer)
	return ok && r.renew(ctx)
}

func (s *Store) limit(err error, pace *pacer) int {
	if !unreachable(err) {
		return s.opts.attempts()
	}
	if s.opts.MaxAttempts > 0 {
		return min(pace.patience(), s.opts.MaxAttempts)
	}
	return pace.patience()
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
// many clients do not come back at once, and no less than err asks for.
func (s *Store) pause(ctx context.Context, try int, err error) error {
	longest := min(s.opts.retryDelay()<<min(try-1, 10), maxDelay)
	delay := time.Duration(rand.Int64N(int64(longest))) + longest/8
	t := time.NewTimer(max(delay, retryAfter(err)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

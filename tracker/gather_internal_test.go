package tracker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestGather lets ten writers come while another writes: one write serves them.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gatherer
		writes, release := 0, make(chan struct{})
		write := func(context.Context) error { writes++; <-release; return nil }
		results := make(chan error, 11)
		for range 11 {
			go func() { results <- g.do(t.Context(), "k", write) }()
			synctest.Wait()
		}
		if writes != 1 {
			t.Errorf("%d writes at a time", writes)
		}
		release <- struct{}{}
		synctest.Wait()
		if len(results) != 1 || writes != 2 {
			t.Errorf("%d are done after the first of %d writes", len(results), writes)
		}
		release <- struct{}{}
		for range 11 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if writes != 2 || len(g.running) != 0 {
			t.Errorf("%d writes, %d still run", writes, len(g.running))
		}
	})
}

// TestGatherAfterFailure leaves nobody with the error of another.
func TestGatherAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gatherer
		broken := errors.New("broken")
		release := make(chan error)
		write := func(context.Context) error { return <-release }
		results := make(chan error, 4)
		for range 4 {
			go func() { results <- g.do(t.Context(), "k", write) }()
			synctest.Wait()
		}
		release <- nil
		release <- broken
		close(release)
		failed := 0
		for range 4 {
			if err := <-results; errors.Is(err, broken) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		if failed != 1 || len(g.running) != 0 {
			t.Errorf("%d failed, %d still run", failed, len(g.running))
		}
	})
}

// TestGatherCancelled takes the next leader and a follower away.
func TestGatherCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gatherer
		release := make(chan struct{})
		writes := 0
		write := func(ctx context.Context) error { writes++; <-release; return nil }
		results := make(chan error, 4)
		begin := func(ctx context.Context) {
			go func() { results <- g.do(ctx, "k", write) }()
			synctest.Wait()
		}
		leader, stopLeader := context.WithCancel(t.Context())
		follower, stopFollower := context.WithCancel(t.Context())
		begin(t.Context()) // writes
		begin(leader)      // leads the next
		begin(follower)
		begin(t.Context())
		stopLeader()
		synctest.Wait()
		stopFollower()
		synctest.Wait()
		for range 2 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		}
		close(release)
		for range 2 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if writes != 2 || len(g.running) != 0 {
			t.Errorf("%d writes, %d still run", writes, len(g.running))
		}
	})
}

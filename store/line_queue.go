package store

import (
	"context"
	"sync"
	"time"
)

// maxPatiences bounds the objects of which it is known that they are in demand.
const maxPatiences = 1 << 10

// lineQueues lets the writers of one process who add lines to one object do so
// together: while one of them is at it, the others gather, and the first of
// those then acts for all of them. Many writers cost few rewrites that way, and
// do not defeat one another's conditions.
type lineQueues struct {
	mu sync.Mutex // guards both
	// waiting holds who came while another was at it, by key. A key is there as
	// long as somebody is.
	waiting map[string][]*lineCall
	// patience is what uniters learned of an object, by key; absent is none.
	patience map[string]time.Duration
}

// lineCall is one writer.
type lineCall struct {
	lines []string
	done  chan error       // gets the outcome if another acted
	lead  chan []*lineCall // gets all that this one is to act for, itself first
}

// add has the lines written by run, through this call or another.
func (q *lineQueues) add(ctx context.Context, key string, lines []string, run func(context.Context, []string) error) error {
	call := &lineCall{lines: lines, done: make(chan error, 1), lead: make(chan []*lineCall, 1)}
	if q.enter(key, call) {
		return q.serve(ctx, key, []*lineCall{call}, run)
	}
	select {
	case <-ctx.Done():
		if q.leave(key, call) {
			return ctx.Err()
		}
	case err := <-call.done:
		return err
	case batch := <-call.lead:
		return q.serve(ctx, key, batch, run)
	}
	// Its turn came as it was about to go: it is being served, or must pass the
	// lead on, which serve does for a context that has ended.
	select {
	case err := <-call.done:
		return err
	case batch := <-call.lead:
		return q.serve(ctx, key, batch, run)
	}
}

// enter reports whether nobody is at it, which makes call the one.
func (q *lineQueues) enter(key string, call *lineCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil {
		q.waiting = map[string][]*lineCall{}
	}
	calls, busy := q.waiting[key]
	if !busy {
		q.waiting[key] = nil
		return true
	}
	q.waiting[key] = append(calls, call)
	return false
}

// leave reports whether call was still waiting.
func (q *lineQueues) leave(key string, call *lineCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, c := range q.waiting[key] {
		if c == call {
			q.waiting[key] = append(q.waiting[key][:i:i], q.waiting[key][i+1:]...)
			return true
		}
	}
	return false
}

// serve acts for batch, whose first is the caller, and passes the lead on.
func (q *lineQueues) serve(ctx context.Context, key string, batch []*lineCall, run func(context.Context, []string) error) error {
	var lines []string
	for _, c := range batch {
		lines = append(lines, c.lines...)
	}
	err := run(ctx, lines)
	others := batch[1:]
	if err != nil && ctx.Err() != nil {
		q.pass(key, others) // it failed for a reason that is not theirs
		return err
	}
	for _, c := range others {
		c.done <- err
	}
	q.pass(key, nil)
	return err
}

// pass makes the first of those left over or waiting act for them all.
func (q *lineQueues) pass(key string, left []*lineCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := append(left[:len(left):len(left)], q.waiting[key]...)
	if len(next) == 0 {
		delete(q.waiting, key)
		return
	}
	q.waiting[key] = nil
	next[0].lead <- next
}

func (q *lineQueues) patienceFor(key string) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.patience[key]
}

func (q *lineQueues) setPatience(key string, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case d == 0:
		delete(q.patience, key)
	case q.patience == nil, len(q.patience) >= maxPatiences:
		q.patience = map[string]time.Duration{key: d}
	default:
		q.patience[key] = d
	}
}

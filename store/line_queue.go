package store

import (
	"context"
	"sync"
	"time"
)

const (
	// maxPatiences bounds the objects of which it is known that they are in demand, or how they were left.
	maxPatiences = 1 << 10
	// askEvery is how long nobody is asked what others have to add, while they change nothing.
	askEvery = time.Minute
)

// lineQueues lets the writers of one process who add lines to one object do so
// together: while one of them is at it, the others gather, and the first of
// those then acts for all of them. Many writers cost few rewrites that way, and
// do not defeat one another's conditions.
type lineQueues struct {
	mu sync.Mutex // guards all
	// waiting holds who came while another was at it, by key. A key is there as
	// long as somebody is.
	waiting map[string][]*lineCall
	// patience is what uniters learned of an object, by key; absent is none.
	patience map[string]time.Duration
	// left is how objects were after the last write of this process, by key.
	left map[string]leftObject
}

// leftObject is an object as this process left it.
type leftObject struct {
	version string    // not empty
	asked   time.Time // when what others had to add was last asked
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

// noteLeft notes that key has that version now, "" if that is not known, and whether others were asked for it.
func (q *lineQueues) noteLeft(key, version string, asked bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := leftObject{version: version, asked: q.left[key].asked}
	if asked {
		now.asked = time.Now()
	}
	switch {
	case version == "":
		delete(q.left, key)
	case q.left == nil, len(q.left) >= maxPatiences:
		q.left = map[string]leftObject{key: now}
	default:
		q.left[key] = now
	}
}

// isAsLeft says that nobody has changed the object since, and others were asked not long ago: a listing of theirs,
// which may be long, would hardly tell anything new.
func (q *lineQueues) isAsLeft(key, version string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	left, known := q.left[key]
	return known && left.version == version && time.Since(left.asked) < askEvery
}

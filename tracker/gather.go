package tracker

import (
	"context"
	"sync"

	"github.com/heirloom-ml/heirloom/store"
)

// gatherer lets the writers of one file go together. While one of them writes,
// those who come wait; then one of these writes for all. It serves where a
// write that begins later than a call covers that call as well. The zero value
// is ready to use.
type gatherer struct {
	mu      sync.Mutex
	running map[store.Key]*gathering // guarded by mu; the one that writes now
}

// gathering is one write and those who wait for it.
type gathering struct {
	done chan struct{} // closed when it is over
	err  error         // set before done is closed
	next *gathering    // guarded by gatherer.mu; who came since it began, or nil
}

// do returns once a write that began after the call has succeeded, or this
// caller's own has failed.
func (g *gatherer) do(ctx context.Context, key store.Key, write func(context.Context) error) error {
	for {
		mine, before, leads := g.join(key)
		if leads {
			return g.lead(ctx, key, mine, before, write)
		}
		select {
		case <-mine.done:
			if mine.err == nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join finds the gathering to wait for; who begins it leads it, once the one
// before it, if there is any, is over.
func (g *gatherer) join(key store.Key) (mine, before *gathering, leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before = g.running[key]
	switch {
	case before == nil:
		mine = &gathering{done: make(chan struct{})}
		if g.running == nil {
			g.running = make(map[store.Key]*gathering)
		}
		g.running[key] = mine
		return mine, nil, true
	case before.next == nil:
		before.next = &gathering{done: make(chan struct{})}
		return before.next, before, true
	}
	return before.next, before, false
}

func (g *gatherer) lead(ctx context.Context, key store.Key, mine, before *gathering, write func(context.Context) error) error {
	if before != nil {
		select {
		case <-before.done:
		case <-ctx.Done():
			if g.leave(mine, before, ctx.Err()) {
				return ctx.Err()
			}
		}
	}
	err := write(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if mine.next != nil {
		g.running[key] = mine.next
	} else {
		delete(g.running, key)
	}
	mine.err = err
	close(mine.done)
	return err
}

// leave gives up a gathering whose turn has not come; those who wait for it
// begin another.
func (g *gatherer) leave(mine, before *gathering, err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-before.done:
		return false // it is our turn already
	default:
	}
	before.next = nil
	mine.err = err
	close(mine.done)
	return true
}

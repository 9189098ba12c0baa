package store

import (
	"context"
	"sync"
)

// gate admits requests to a number of places, first come first served. The
// number halves where the far side asks for less and grows again with success.
type gate struct {
	most int // places at first and at most

	mu      sync.Mutex // guards all below
	places  int
	taken   int
	passed  int // successes since the number last changed
	waiting []*waiter
}

type waiter struct {
	places int
	ready  chan struct{} // closed when admitted
}

func newGate(places int) *gate { return &gate{most: places, places: places} }

// enter waits for so many places. One that wants more than there are is
// admitted alone.
func (g *gate) enter(ctx context.Context, places int) error {
	g.mu.Lock()
	w := &waiter{places: places, ready: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.admit()
	g.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, other := range g.waiting {
		if other == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			g.admit() // it may have stood in the way
			return ctx.Err()
		}
	}
	g.taken -= places // admitted at the same moment
	g.admit()
	return ctx.Err()
}

// leave gives back what enter took.
func (g *gate) leave(places int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken -= places
	g.admit()
}

// admit lets in those at the head of the line. mu is held.
func (g *gate) admit() {
	for len(g.waiting) > 0 && (g.taken == 0 || g.taken+g.waiting[0].places <= g.places) {
		g.taken += g.waiting[0].places
		close(g.waiting[0].ready)
		g.waiting = g.waiting[1:]
	}
}

// throttled halves the places, once for all that were let in together.
func (g *gate) throttled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.taken <= g.places {
		g.places = max(g.places/2, 1)
	}
	g.passed = 0
}

// succeeded adds a place after as many successes as there are places.
func (g *gate) succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passed++; g.passed >= g.places && g.places < g.most {
		g.places++
		g.passed = 0
		g.admit()
	}
}

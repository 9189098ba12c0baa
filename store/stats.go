package store

import (
	"maps"
	"sync"
)

// Stats counts what a store and its Subs asked of the backend since Open.
type Stats struct {
	Requests map[string]int64 // by Request.Op, retries included
	Up, Down int64            // bytes of bodies sent, and received
}

// Total is the number of requests of all kinds.
func (s Stats) Total() int64 {
	var n int64
	for _, v := range s.Requests {
		n += v
	}
	return n
}

// Stats is a snapshot of the counts.
func (s *Store) Stats() Stats { return s.meter.snapshot() }

type meter struct {
	mu    sync.Mutex // guards stats
	stats Stats
}

func (m *meter) request(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stats.Requests == nil {
		m.stats.Requests = map[string]int64{}
	}
	m.stats.Requests[r.Op]++
	m.stats.Up += r.Bytes
}

func (m *meter) moved(up, down int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Up += up
	m.stats.Down += down
}

func (m *meter) snapshot() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Requests = maps.Clone(m.stats.Requests)
	return s
}

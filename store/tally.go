package store

import "sync"

// tally counts the bytes of one file.
type tally struct {
	mu      sync.Mutex // guards both
	arrived int64      // resumed ones among them
	resumed int64      // that an earlier try had moved
}

func (t *tally) add(bytes int64, resumed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived += bytes
	if resumed {
		t.resumed += bytes
	}
}

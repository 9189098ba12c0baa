package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heirloom-ml/heirloom/store"
)

// traffic holds the stores that the command opened, so that --stats can add up their requests.
type traffic struct {
	mu     sync.Mutex // guards stores and opened
	stores []*store.Store
	opened []place

	runners []io.Closer // what is to be closed with the command beside them
}

// keep remembers a store for the statistics and for closing.
func (t *traffic) keep(s *store.Store) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stores = append(t.stores, s)
}

// keepPlace remembers a place, whose index is out of date if the command writes there by whatever way.
func (a *app) keepPlace(p place) place {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened = append(a.opened, p)
	return p
}

// changes says whether any request was made of a store that may change what it holds.
func changes(s *store.Store) bool {
	for op, n := range s.Stats().Requests {
		if n > 0 && !slices.Contains([]string{"get", "list", "stat"}, op) {
			return true
		}
	}
	return false
}

// finish prints the statistics if asked, and closes the stores. The error is the first of closing.
func (a *app) finish() error {
	var first error
	for _, r := range a.runners {
		if err := r.Close(); err != nil && first == nil {
			first = err
		}
	}
	if a.flags.stats {
		fmt.Fprintln(a.stderr, a.summary())
	}
	for _, p := range a.opened {
		if changes(p.tracker.Store()) {
			a.wrote(p.tracker)
		}
	}
	for _, s := range a.stores {
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// summary reads "requests: 5 (get 3, list 2), 0 bytes up, 1234 bytes down".
func (a *app) summary() string {
	var sum store.Stats
	byOp := map[string]int64{}
	for _, s := range a.stores {
		one := s.Stats()
		sum.Up += one.Up
		sum.Down += one.Down
		for op, n := range one.Requests {
			byOp[op] += n
		}
	}
	sum.Requests = byOp
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		parts = append(parts, fmt.Sprintf("%s %d", op, byOp[op]))
	}
	detail := ""
	if len(parts) > 0 {
		detail = " (" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprintf("requests: %d%s, %d bytes up, %d bytes down", sum.Total(), detail, sum.Up, sum.Down)
}

// watch prints each request as it ends, for --verbose.
func (a *app) watch(_ context.Context, r store.Request, do func() error) error {
	start := time.Now()
	err := do()
	outcome := "ok"
	if err != nil {
		outcome = err.Error()
	}
	a.note("%s %s: %s (%s)", r.Op, r.Key, store.Redact(outcome), time.Since(start).Round(time.Microsecond))
	return err
}

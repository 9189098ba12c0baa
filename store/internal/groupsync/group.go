// Package groupsync makes many files durable at once: those who wait at the same time share one flush of their file
// system, where each by itself would wait for a flush of its own.
package groupsync

import (
	"errors"
	"os"
	"sync"
)

// flushFrom is from how many files on one flush of the whole file system is cheaper than one for each. It also writes
// what others have written, which is worth it for many files only.
const flushFrom = 8

// atOnce is how many flush side by side: the journal of a file system serves those with one commit, and none of them waits
// for another.
const atOnce = 4

// Group collects those who wait. The zero value is ready; it is safe for concurrent use.
type Group struct {
	mu      sync.Mutex // guards what follows
	running int        // how many flush
	next    *batch     // who comes after them, nil for nobody
}

type batch struct {
	entries []entry
	lead    chan struct{} // lets one of them flush for all
	done    chan struct{} // closed when errs is set
	errs    []error       // of each entry
}

type entry struct {
	file *os.File
	name string
	sync func(*os.File) error
}

// File makes f durable with sync, or together with others. It returns when that is done.
func (g *Group) File(f *os.File, sync func(*os.File) error) error {
	return g.wait(entry{file: f, sync: sync})
}

// Dir does so for the entries of an open directory. Those who name the same one need it done once.
func (g *Group) Dir(f *os.File, name string, sync func(*os.File) error) error {
	return g.wait(entry{file: f, name: name, sync: sync})
}

func (g *Group) wait(e entry) error {
	b, i := g.join(e)
	if b == nil {
		err := e.sync(e.file)
		g.pass()
		return err
	}
	select {
	case <-b.done:
		return b.errs[i]
	case <-b.lead:
	}
	b.flush()
	g.pass()
	return b.errs[i]
}

// join adds e to those who come next; nil is that it comes now.
func (g *Group) join(e entry) (b *batch, i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running < atOnce {
		g.running++
		return nil, 0
	}
	if g.next == nil {
		g.next = &batch{lead: make(chan struct{}, 1), done: make(chan struct{})}
	}
	g.next.entries = append(g.next.entries, e)
	return g.next, len(g.next.entries) - 1
}

// pass lets the next ones flush in the place of one that has.
func (g *Group) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.running--
		return
	}
	g.next.lead <- struct{}{}
	g.next = nil
}

func (b *batch) flush() {
	defer close(b.done)
	b.errs = make([]error, len(b.entries))
	if len(b.entries) >= flushFrom {
		err := flushAll(b.entries)
		if !errors.Is(err, errors.ErrUnsupported) {
			for i := range b.errs {
				b.errs[i] = err
			}
			return
		}
	}
	seen := map[string]int{} // by name, the entry that was flushed for it
	for i, e := range b.entries {
		if first, ok := seen[e.name]; ok && e.name != "" {
			b.errs[i] = b.errs[first]
			continue
		}
		seen[e.name] = i
		b.errs[i] = e.sync(e.file)
	}
}

package store

import "sync"

// streamBuffers bounds what the streams of a store hold between them, save that
// each has one part in any case. The zero value is ready.
type streamBuffers struct {
	mu   sync.Mutex
	held int // guarded by mu; bytes
}

func (b *streamBuffers) take(size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held+size > streamMemory {
		return false
	}
	b.held += size
	return true
}

// force takes room whether or not there is any.
func (b *streamBuffers) force(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += size
}

func (b *streamBuffers) give(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= size
}

// partBuffers are those of one stream. It has one from the start, so that
// streams never wait for each other, and more while there is room.
type partBuffers struct {
	all  *streamBuffers
	size int         // bytes
	made int         // how many there are, at most cap(free)
	free chan []byte // those whose part has been sent
}

func newPartBuffers(all *streamBuffers, size int) *partBuffers {
	all.force(size)
	return &partBuffers{all: all, size: size, made: 1, free: make(chan []byte, streamParts)}
}

// next gives one of that size that is free, or nil for one to be made, or waits.
func (p *partBuffers) next(size int) []byte {
	if size != p.size {
		p.resize(size)
		return nil
	}
	select {
	case buffer := <-p.free:
		return buffer
	default:
	}
	if p.made < cap(p.free) && p.all.take(p.size) {
		p.made++
		return nil
	}
	return <-p.free
}

// resize waits for all parts that are on their way and begins with one buffer
// again, so that none of the old size lies about.
func (p *partBuffers) resize(size int) {
	for range p.made {
		<-p.free
	}
	p.release()
	p.all.force(size)
	p.size, p.made = size, 1
}

// release gives back the room of all.
func (p *partBuffers) release() { p.all.give(p.made * p.size) }

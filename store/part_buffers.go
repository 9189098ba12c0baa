package store

import "sync"

// streamBuffers bounds what the streams of a store hold between them beside one
// part each. The zero value is ready.
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

func (b *streamBuffers) give(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= size
}

// partBuffers are those of one stream. It has one in any case, so that streams
// never wait for each other, and more while there is room.
type partBuffers struct {
	all  *streamBuffers
	size int         // bytes
	made int         // how many there are, at most cap(free)
	free chan []byte // those whose part has been sent
}

// next gives one that is free, or nil for one to be made, or waits.
func (p *partBuffers) next() []byte {
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

// release gives back the room of all but the first.
func (p *partBuffers) release() { p.all.give((p.made - 1) * p.size) }
